"""What tells that somebody speaks of their own health: illness, injury, diet and treatment."""

from __future__ import annotations

import re

# What an illness is called, by its name or its ending.
_ILLNESS = (
    r"(?:\w{4,}itis|(?!diagnosis|prognosis|hypnosis)\w{3,}osis|\w*(?:an|ur|leuk|lyc)a?emia|\w{3,}algia|\w{3,}plegia|"
    r"glaucoma|melanoma|lymphoma|\w*carcinoma|neuropathy|retinopathy|dystrophy|degeneration|palsy|syndrome|murmur|cataracts?|"
    r"dementia|parkinson\w*|alzheimer\w*|lupus|cancer|hiv|copd|ibs|ptsd|ocd|gout|vertigo|hernia|ulcers?|reflux|apno?ea|"
    r"(?:bad|poor|weak)\s(?:eyes|eyesight|vision|lungs|knees|hips?|teeth|balance|circulation))"
)
# Parts, organs and senses.
_BODY = (
    r"(?:(?:eye|ear|gum|jaw|neck|shoulder|arm|elbow|wrist|hand|finger|thumb|rib|hip|leg|thigh|knee|shin|ankle|toe|heel|tendon|"
    r"muscle|joint|lung|kidney|bowel|nerve|bone|disc)s?|nose|throat|t(?:ee|oo)th|chest|back|spine|cal(?:f|ves)|f(?:oo|ee)t|skin|"
    r"heart|liver|stomach|bladder|gut|thyroid|immune\ssystem|circulation|eyesight|vision|hearing|sight|memory|balance|voice)"
)
# "a broken wrist", "a torn meniscus"
_INJURY = (
    r"(?:(?:broken|fractured|torn|sprained|dislocated|ruptured|slipped|pulled|cracked|twisted|strained)\s(?:(?:left|right)\s)?"
    r"(?:wrist|arm|leg|ankle|foot|toe|finger|thumb|hand|rib|ribs|collarbone|elbow|shoulder|knee|hip|nose|jaw|meniscus|"
    r"ligament|acl|tendon|achilles|muscle|hamstring|disc|vertebra|kneecap|calf))"
)
# A clause in the first person on the speaker's own health.
HEALTH = re.compile(
    rf"\bi(?:['’]ve(?:\sgot)?|\shave(?:\sgot)?)\sa\s{_INJURY}\b|"
    rf"\bi(?:['’]ve(?:\sgot)?|\s(?:\w+\s)?have(?:\sgot)?)\s(?:(?!no\b|to\b)\w+\s){{0,3}}?{_ILLNESS}\b|"
    r"\bi(?:['’]m|\sam|(?:['’]ve|\shave)\s(?:always\s)?been)\s(?:also\s|severely\s|mildly\s|a\s|badly\s|very\s|quite\s|partially\s|"
    r"legally\s|strictly\s)?"
    r"(?:allergic|(?:pre-?)?diabetic|vegan|vegetarian|pescatarian|coeliac|celiac|pregnant|"
    r"lactose|gluten|asthmatic|epileptic|dyslexic|colou?r-?\s?blind|deaf|blind|hard\sof\shearing|"
    r"left-handed|autistic|anaemic|hypertensive|intolerant|short-sighted|recovering)\b"
    r"|\bi\s(?:can['’]?t|cannot|must\snot|mustn['’]t|may\snot|(?:['’]m|am)\snot\sallowed\sto)\s"
    r"(?:eat|drink|have|digest|tolerate)\s(?!to\b|it\b|that\b|them\b|you\b)"
    r"|\b(?:i|we)(?:['’]re|\sare|['’]ve|\shave)?\s(?:both|all)\s(?:vegan|vegetarian|allergic|coeliac|diabetic|asthmatic)"
    r"|\bi(?:['’]ve|\shave)\s(?:had|got|been\sdiagnosed|suffered)\b[\w\s]{0,20}\b(?:type\s[12]|diabetes|asthma|migraines?|epilepsy|"
    r"arthritis|tinnitus|allerg\w+|adhd|autism|dyslexia|eczema|hay\sfever|depression|insomnia|back\spain|coeliac|crohn\w*|psoriasis)\b"
    r"|\bmy\s\w+\s(?:\w+\s)?(?:hurts?|aches?)\b|\bi\s(?:\w+\s)?(?:get|suffer\sfrom|"
    r"struggle\swith)\s(?:bad\s|severe\s|really\s)?(?:migraines?|seasick|"
    r"motion\ssick|panic\sattacks|hay\sfever|vertigo|hives|headaches|anxiety|insomnia)\b|"
    r"\bi\s(?:\w+\s)?have\s(?:a\s|an\s|type\s\w+\s|chronic\s|severe\s|mild\s|bad\s){0,3}(?:asthma|"
    r"diabetes|migraines?|"
    r"\w+\s(?:allergy|intolerance|condition|disorder|disease)|allerg\w+|adhd|epilepsy|arthritis|"
    r"tinnitus|hypertension|high\sblood\spressure|back\s(?:pain|problems?)|bad\s(?:back|knee)|"
    r"knee|insomnia|"
    r"dyslexia|pacemaker|hearing)\b|\bi(?:['’]ve|\shave|\swas|['’]m|\sam)\s(?:\w+\s){0,2}diagnosed\s(?:with|as)\b"
    r"|\b(?:they|he|she)(?:['’]ve|\shave|\shas)?\s(?:put|started)\sme\son\b|\bi\sweigh\s\d|\bprescribe|"
    r"\bmy\s(?:\w+\s)?(?:iron|cholesterol|blood\ssugar|sugar|thyroid|heart|vitamin\s\w+|eyesight|hearing|"
    r"weight)\s(?:levels?\s)?(?:is|are|was)\b|"
    rf"\bmy\s(?:weight|height|shoe\ssize)\sis\b|\bmy\s(?:\w+\s)?{_BODY}(?:['’]s|\sis|\sare)\s(?:\w+\s)?(?:bad|weak|failing|broken|"
    r"sprained|sore|swollen)\b|\bi\s(?:take|need)\s(?:\w+\s){0,3}(?:medication|pills?|"
    r"insulin|tablets?|inhaler)\b"
    r"|\bi\b.{0,30}\b(?:surgery|operation|stroke|broke|broken|sprained|fractured|tore|heart\sattack|"
    r"concussion|burnout|transplant)\b.{0,60}\b(?:can['’]?t|cannot|still|not\sallowed|mustn['’]t|"
    r"may\snot|no\slonger|never)\b|\bi\s(?:still\s)?(?:can['’]?t|cannot|mustn['’]t)\s"
    r"(?:walk|lift|bend|climb|kneel|stand\s(?:up|for)|hear|see\s(?:well|colou?rs?))\b|\b(?:doctor|(?-i:Dr)\.?|gp|cardiologist|"
    r"specialist|surgeon|dentist|clinic)\b.{0,30}\b(?:put|prescribed|gave|started)\s(?:me\b|\w+\sfor\sme)|"
    r"\bi(?:['’]m|\sam)\s(?:still\s|now\s)?on\s(?:iron|insulin|antibiotics|blood\sthinners|medication|"
    r"crutches|statins|steroids|antidepressants|beta\sblockers|painkillers|a\sdiet|sick\sleave)\b"
    r"|\bi\s(?:use|wear)\s(?:a\s|two\s)?(?:wheelchair|hearing\saids?|prosthe\w+|screen\sreader|glasses|contact\slenses|insulin\spump)\b|"
    r"\bmy\s(?:allerg\w+|blood\s"
    r"(?:type|pressure)|migraines?|asthma|diabetes|knee|back)\s(?:is|are|means?|keeps?)\b",
    re.IGNORECASE,
)
