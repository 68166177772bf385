"""English verbs: which words are verbs, their forms, and their agreement with a subject."""

from __future__ import annotations

from .words import DETERMINERS, PREPOSITIONS, STOPWORDS, word_set

_REGULAR = """
    abandon absorb accelerate accept accompany accuse achieve ack acknowledge acquire act adapt
    add adjust admire admit adopt advance advise afford aggregate agree aim alert allow amend
    analyse analyze announce answer anticipate apologise appeal appear apply appoint appreciate
    approve archive argue arise arrange arrive ask assemble assess assign assist assume assure
    attach attack attend attract audit authorise authorize automate avoid await award back bake
    balance ban base bathe battle beg behave belong benefit bet bind bisect blame blend bless
    blink block blog boil book boost bore borrow bother bounce brake brew brief browse brush
    build bump bundle burn cache calculate call calm camp cancel caption care carry cause
    celebrate certify chair change charge chase chat check chew choke chop circulate cite claim
    classify clean clear climb clone close code coincide collapse collect combine come comfort
    command comment commit communicate commute compare compensate compete compile complain
    complete compose compress conclude conduct configure confirm conflict conform connect
    conserve consider consist consult consume contact contain continue contract contribute
    control convert convince cook cool cooperate coordinate copy correct corrupt cost count
    cover crack crash crawl create credit criticise crop cross crush cry curate cure cycle
    damage dance dare date deal debate debug decay decide declare decline decorate dedicate
    defend define degrade degrease delay delegate delete deliver demand demonstrate deny depart
    depend depict deploy descale descend describe deserve design destroy detach detect develop
    devote diagnose dial die differ digest diminish direct disable disagree disappear disappoint
    disconnect discontinue discover discuss dislike dispatch display dispute disrupt dissolve
    distil distill distribute dive divide dock document dominate donate double doubt download
    draft drag drain dress drift drop drown dry dump duplicate earn echo edit eliminate email
    embrace emerge emit emphasise employ enable encourage end enforce engage enhance enjoy enrol
    ensure enter equal erase erupt escalate establish estimate evacuate evaluate evict evolve
    examine exceed exclude excuse execute exercise exhaust exhibit exist expand expect
    experience expire explain explode explore export expose express extend face fade fail fancy
    farm fasten favour ferment fetch fill filter fine finish fire fish fit fix flag flash flee
    float flood flow flush focus fold follow forbid force forecast fork format forward foster
    frame freelance freeze frustrate fuel fulfil function fund furnish gain garden gather
    generate glue govern grab grade graduate grant graze greet grind groom guarantee guard guess
    guide halt hand handle happen harm harvest hate haunt head heal heat help hesitate highlight
    hike hint hire hold hope host hug hunt hurry identify ignore illustrate imagine imply import
    impose impress improve include increase index infect influence inform inhale inherit inject
    injure insist inspect inspire install insure integrate intend interfere interrupt interview
    introduce invent invest invite invoice involve iron isolate issue itch jog join joke juggle
    jump keep kick kill kiss knead knit knock label lack lag laminate land last laugh launch
    lead learn lease leave lecture lend lengthen let licence license lie lift like limit link
    list listen litter live load lobby lock log look lose love lower mail maintain make manage
    map march mark marry mask master matter mature measure melt mention mentor merge mess
    migrate mind miss mix model modify monitor motivate mount move mow multiply mute nail name
    narrow navigate need negotiate nest nod nominate notice notify number obey object observe
    obtain occur offer onboard open operate oppose optimise optimize orbit order organise
    organize originate outgrow outsource overcome overhaul overheat overlap overlook oversee
    overwrite owe own pack page paint park parse participate pass patch pause peel penetrate
    perform permit persist persuade phase phone pick pickle pilot pin ping pitch plan plant play
    plug polish poll populate pour power practice practise praise pray preach predict prefer
    preheat prepare present preserve press prevent print prioritise proceed process procure
    produce prohibit prolong promise promote pronounce propose prosper protect prove provide
    prune publish pull puncture purchase purge push qualify query question queue quit race rain
    raise rank rate reach react realise realize rebase reboot rebrand rebuild receive reckon
    recognise recognize recommend reconcile record recover recruit recycle redeploy redirect
    reduce refactor refer refill reflect refund refurbish refuse register regret regulate
    rehearse reinforce reinstall reject relate relax release reload relocate rely remain remark
    remember remind remodel remove rename render renew renovate rent reorder repaint repair
    repeat replace reply report reproduce request require rerun reschedule rescue research
    reseat resemble reserve reset resign resist resolve resort respond rest restart restore
    restrict resume retain retire retreat retry return reuse reveal revert review revise revoke
    reward rewrite rinse risk rob rock roll rotate route ruin rule rust sabotage sail sample
    sand satisfy save scale scan scare schedule scrap scratch scream screen seal search secure
    seed seem seize select sense separate serve settle shape share shave shelter shift shine
    ship shop shorten shout shred shrink shut sign signal simmer simplify sink skate sketch ski
    skip slice slide slip slow smash smell smile smoke sneeze snow soak soften solve sort sound
    sow span spare spark specialise specialize specify speculate spell spill spin spoil sponsor
    spot spray spread sprint squash squeeze stack staff stage stain stall stamp start starve
    state stay steam steer step stimulate stir stock stop store strain streamline strengthen
    stress stretch strike strip struggle study subcontract subscribe succeed sue suffer suggest
    suit summarise summarize supervise supply support suppose surf surprise surround survive
    suspect suspend sustain swallow swap swear sweat sweep swell swing switch tackle tag tail
    tailor talk tap tape target taste tear tease telephone tell tempt tend terminate test thank
    thaw threaten throttle tick tidy tie tilt toggle tolerate touch tour tow trace track trade
    train transfer transform translate transmit transport trap travel treat trigger trim triple
    trust try tumble tune turn twist type undergo undertake unfold uninstall unite unlock unpack
    unplug unsubscribe update upgrade upload urge use utilise vacuum validate value vanish
    varnish vary ventilate venture verify video view violate visit voice void volunteer vote
    wait wake walk wander want warm warn warrant wash waste watch water weaken wear weave weigh
    welcome weld whisk whisper whitelist widen wipe wish withhold witness wonder work worry wrap
    wreck wrestle yell yield zip
    """
# base, past, participle where they differ from the regular pattern
_IRREGULAR = """
be:was,were:been become:became:become begin:began:begun bend:bent:bent bite:bit:bitten
blow:blew:blown break:broke:broken bring:brought:brought build:built:built buy:bought:bought
catch:caught:caught choose:chose:chosen come:came:come cost:cost:cost cut:cut:cut deal:dealt:dealt
dig:dug:dug do:did:done draw:drew:drawn drink:drank:drunk drive:drove:driven eat:ate:eaten
fall:fell:fallen feed:fed:fed feel:felt:felt fight:fought:fought find:found:found fly:flew:flown
forget:forgot:forgotten forgive:forgave:forgiven freeze:froze:frozen get:got:gotten give:gave:given
go:went:gone grow:grew:grown hang:hung:hung have:had:had hear:heard:heard hide:hid:hidden
hit:hit:hit hold:held:held hurt:hurt:hurt keep:kept:kept know:knew:known lay:laid:laid lead:led:led
leave:left:left lend:lent:lent let:let:let lose:lost:lost make:made:made mean:meant:meant
meet:met:met pay:paid:paid put:put:put quit:quit:quit read:read:read ride:rode:ridden
ring:rang:rung rise:rose:risen run:ran:run say:said:said see:saw:seen sell:sold:sold send:sent:sent
set:set:set shake:shook:shaken shine:shone:shone shoot:shot:shot show:showed:shown shut:shut:shut
sing:sang:sung sit:sat:sat sleep:slept:slept speak:spoke:spoken spend:spent:spent split:split:split
spread:spread:spread stand:stood:stood steal:stole:stolen stick:stuck:stuck swim:swam:swum
take:took:taken teach:taught:taught tell:told:told think:thought:thought throw:threw:thrown
understand:understood:understood wake:woke:woken wear:wore:worn win:won:won wind:wound:wound
withdraw:withdrew:withdrawn write:wrote:written rebuild:rebuilt:rebuilt overrun:overran:overrun
"""
# Verbs that read at least as often as nouns; never enough by themselves to call words a clause.
AMBIGUOUS = word_set(
    """
    ack act advance aim alert answer audit award back balance base benefit bet blame blend block
    blog boil book boost bore bounce brake break brief brush bump burn cache call calm camp can
    caption care cause chair challenge change charge chase chat check chop claim clean clear
    close code command comment complete compost conflict contract control cook cool corrupt cost
    count cover crawl credit crop cure cut cycle damage dance date deal debate decay delay
    demand deploy design dial direct dispatch dispute dive dock document double doubt draft
    drain dress drink drive drop dry dump duplicate echo email end equal estimate excuse
    exercise exhibit experience export face fall farm favour feed fight filter find fine fire
    fish fit fix flag flash float flood flow focus fold force forecast fork form format frame
    fuel function fund garden glue grade grant graze group guard guess guide halt hand harm head
    heat help highlight hike hint hit hold hope host hug import increase index influence
    interview invoice issue itch joke jump kick label lack lag land last launch lay lead lease
    lecture licence license lie lift like limit link list litter load lobby lock log look love
    lower mail map march mark mask master match matter mature may mean measure mess mind mix
    model monitor mount must nail name narrow need nest number object offer open order page park
    pass patch pause phase phone pick pilot pin ping pitch plan plant play plug polish poll pour
    power practice praise present press print process produce promise pull purchase push query
    question queue race rain raise rank rate read record refund release remark rent repair reply
    report request research reserve reset resort rest return review reward ride ring rise risk
    rock roll route rule run rust sail sample sand scan scare schedule scrap scratch screen seal
    search second secure seed sense set shake shape share shelter shift shine ship shop shot
    show sign signal sink sketch ski sleep slice slide slip slow smash smell smoke snow soak
    sort sound span spare spark spell spill spin split sponsor spot spray spread sprint squash
    squeeze stack staff stage stain stall stamp stand start state steam step stick stir stock
    stop store strain stress strike strip struggle study supply support surprise swallow swap
    sweat sweep swim swing switch tackle tag talk tap tape target taste tear telephone test
    third tick tie tilt time touch tour tow trace track trade train transfer transport trap
    travel treat trigger triple tune turn twist type update upgrade upload use value video view
    visit voice void volunteer vote wait walk warm wash waste watch water welcome whisper will
    win wish witness work worry wrap wreck yield zip
    """
)
MODALS = word_set(
    """
    can could may might must shall should will would can't cannot couldn't mustn't shouldn't
    won't wouldn't ought needn't
    """
)
AUXILIARIES = word_set(
    """
    am is are was were be been being have has had do does did isn't aren't wasn't weren't
    haven't hasn't hadn't don't doesn't didn't ain't
    """
)


def _doubled(base: str) -> bool:
    """Whether the last consonant doubles before -ed and -ing (stop, plan)."""
    vowels = "aeiou"
    return (
        len(base) >= 3
        and base[-1] not in vowels + "wxy"
        and base[-2] in vowels
        and base[-3] not in vowels
        and (len(base) <= 4 or base in {"commit", "prefer", "refer", "submit", "cancel"})
        and base not in {"open", "edit", "visit", "offer", "enter"}
    )


def third_person(*, base: str) -> str:
    """The form of a verb after he, she or a singular name: "go" gives "goes"."""
    special = {"be": "is", "have": "has", "do": "does", "go": "goes"}
    if base in special:
        return special[base]
    if base.endswith(("s", "x", "z", "ch", "sh")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ied"
    return base + base[-1] + "ed" if _doubled(base) else base + "ed"


def _gerund(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")) and base != "be":
        return base[:-1] + "ing"
    return base + base[-1] + "ing" if _doubled(base) else base + "ing"


_IRREGULAR_ROWS = [row.split(":") for row in _IRREGULAR.split()]
_IRREGULAR_PAST = {row[0]: frozenset(row[1].split(",")) for row in _IRREGULAR_ROWS}

BASES = frozenset(_REGULAR.split()) | frozenset(_IRREGULAR_PAST) - {"be"}
THIRD = {third_person(base=base): base for base in sorted(BASES)}
_REGULAR_PAST = {_past(base): base for base in sorted(BASES) if base not in _IRREGULAR_PAST}
PAST = frozenset(_REGULAR_PAST) | frozenset(
    form for forms in _IRREGULAR_PAST.values() for form in forms
)
IRREGULAR_PAST = frozenset(form for forms in _IRREGULAR_PAST.values() for form in forms)
PARTICIPLES = frozenset(_REGULAR_PAST) | frozenset(row[2] for row in _IRREGULAR_ROWS)
GERUNDS = {_gerund(base): base for base in sorted(BASES)}
UNMARKED = frozenset(base for base, forms in _IRREGULAR_PAST.items() if base in forms)


def is_past_form(*, word: str) -> bool:
    """Whether a word can only be a past form ("went", "decided"); "read" and "put" are not."""
    if word in UNMARKED:
        return False
    if word in PAST or word in {"was", "were", "did", "had", "got"}:
        return True
    return word.endswith("ed") and len(word) > 4 and word not in BASES and not word.endswith("eed")


def is_finite(*, word: str) -> bool:
    """Whether a word can carry a clause as its verb, without asking where it stands."""
    word = word.lower().replace("’", "'")
    if (
        word in AUXILIARIES
        or word in MODALS
        or word.endswith(("'s", "'m", "'re", "'ve", "'ll", "'d", "n't"))
    ):
        return True
    if word in THIRD:
        return THIRD[word] not in AMBIGUOUS
    return word in PAST or (word in BASES and word not in AMBIGUOUS)


def agree(*, word: str) -> str:
    """The word in the third person singular when it is a present verb, else unchanged."""
    low = word.lower().replace("’", "'")
    irregular = {
        "am": "is", "are": "is", "have": "has", "do": "does", "don't": "does not",
        "haven't": "has not", "aren't": "is not", "weren't": "was not", "were": "was",
        "can't": "cannot", "won't": "will not", "didn't": "did not", "isn't": "is not",
        "wasn't": "was not", "couldn't": "could not", "shouldn't": "should not",
        "wouldn't": "would not", "hadn't": "had not", "gonna": "is going to",
        "wanna": "wants to", "gotta": "has to", "cannot": "cannot",
    }  # fmt: skip
    if low in irregular:
        return irregular[low]
    if low in MODALS or low in AUXILIARIES or is_past_form(word=low) or low in GERUNDS:
        return word
    if low in BASES:
        return third_person(base=low)
    if low in STOPWORDS or low in PREPOSITIONS or low in DETERMINERS:
        return word
    if low in THIRD or low.endswith(("ed", "ing", "s", "ly")) or not low.isalpha():
        return word
    return third_person(base=low)


def past_of(*, base: str) -> str:
    """The simple past of a base form: "go" gives "went"."""
    forms = _IRREGULAR_PAST.get(base)
    return sorted(forms)[0] if forms else _past(base)
