"""Whether a name, a title or a role is a woman's or a man's; nothing is said of most.

Only given names that are one or the other nearly everywhere are listed: Andrea, Kim, Robin and
Sasha are not.
"""

from __future__ import annotations

import re
from enum import StrEnum

from .words import word_set, words_of


class Gender(StrEnum):
    """Which pronoun speaks of somebody, as far as it is known."""

    SHE = "she"
    HE = "he"
    UNKNOWN = ""


_WOMEN = word_set(
    """
    ada adele agatha agnes agnieszka aisha alba alice alicia alina alma amalia amanda amelia
    amina amira amy ana anastasia angela angelica anita anja anna annabel anne annie annika
    antonia anya ariana astrid audrey aurora ayesha barbara beatrice beatriz bella bertha
    bettina bianca birgit birgitta brenda bridget brigitte britta carina carla carmen caroline
    caterina catherine cecilia celia chiara chloe christina christine clara clarissa claudia
    clementine colette constance cordelia cristina cynthia dagmar daniela daphne deborah delia
    diana donna dora doris dorothea dorothy edith eileen elaine eleanor elena elif elisa
    elisabeth elise eliza elizabeth ella ellen elsa elvira emilia emily emma erica erika
    esmeralda esther eugenia eva evelyn fatima felicia fiona flora franziska freya frida
    gabriela gemma genevieve geraldine gerda gertrude gisela giulia gloria grace greta gretchen
    gudrun hanna hannah harriet heather heidi helen helena helene helga henrietta hilda
    hildegard ida ilse imogen ines ingeborg ingrid irene irina irma isabel isabella isabelle
    isla ivana jane janet janice jasmine jeanne jennifer jenny jessica joanna johanna josefina
    josephine joyce judith julia juliana julie juliet karen karin karolina katarina kate
    katharina katherine kathleen kathrin kathryn katie katja katrin kirsten klara lara larissa
    laura leila lena leonora letizia lidia liesel lilian lillian lily linda lisa liv livia lola
    lorena lotte louise lucia luciana lucie lucy ludmila luisa lydia mabel magdalena maja malin
    manuela marcela margaret margarita margot maria mariam mariana marianne marie marina
    marjorie marta martha martina mary matilda maya megan melanie melissa meredith mia michelle
    mildred mirjam miriam molly monica monika muriel myra nadia nadine naomi natalia natalie
    natasha nathalie nina nora odette olga olivia ophelia paola patricia paula paulina penelope
    petra philippa phoebe pia pilar priscilla priya rachel ramona rebecca regina renata rita
    roberta rosa rosalind rosemary rowena roxana ruth sabine sabrina sally samantha sandra sara
    sarah selma serena sharon sheila shirley sigrid silke silvia simona sofia sofie solveig
    sonia sonja sophia sophie stella stephanie susan susanna susanne suzanne svetlana sylvia
    tamara tanja tania tanya tatiana teresa tessa thea theresa therese tilda tina ulla ulrike
    ursula valentina valeria vanessa vera veronica veronika viktoria viola vivian viviana wanda
    wendy wilhelmina yasmin yolanda yvette yvonne zainab zeynep zoe zofia zuzana deepa lakshmi
    sunita anjali pooja aiko yumi keiko naoko aminata ngozi chioma guadalupe ximena
    """
)
_MEN = word_set(
    """
    aaron abdul abdullah abraham adam adolf adrian ahmad ahmed alan albert alberto alejandro
    aleksander alessandro alexander alfonso alfred ali alistair alvaro anders andreas andrei
    andres andrew andrzej angus anthony antoine antonio anton archibald arjun armin arnold
    arthur arturo axel barnaby bart bartosz ben benedict benjamin bernard bernd bernhard
    bertrand bill bjorn björn bob boris brad bradley brendan brian bruce bruno callum carl carlo
    carlos cedric cesar charles christian christoph christopher claus clemens clement colin
    conrad constantin craig cyril damian dan daniel daniele dario darren dave david declan denis
    dennis derek desmond dieter diego dietrich dimitri dirk dmitri domenico dominic donald
    douglas duncan edgar eduardo edward edwin egon emanuele emil enrico enrique enzo erich eric erik
    ernest ernesto ernst erwin esteban ethan eugene eugenio fabian fabio federico felipe felix
    ferdinand fernando filip flavio florian francesco francisco frank franz fred frederick
    fredrik friedrich fritz gareth gary gavin geoffrey george georg georgios gerald gerard
    gerhard gianluca gianni gilbert giles giorgio giovanni giuseppe gonzalo gordon graham greg
    gregor gregory guido guillermo gunnar gunther günther gustav hakan hamza hans harald harold
    harry hassan hector heinrich heinz helmut hendrik henri henrik henry herbert hermann holger
    horst howard hubert hugh hugo hussein ian ibrahim ignacio igor ilya imran ivan ivar jack
    jacob jacques jakob jakub james jared jason javier jens jeremy jerome jesper jim jimmy
    joachim joaquin joe joel johan johann johannes john jonas jonathan jorge jörg jose josef
    joseph joshua juan juergen jürgen julian julius kamal karim karl kaspar keith ken kenneth
    kevin klaus knut konrad konstantin kumar kurt kyle lars laszlo leo leonard leonardo leopold
    liam lorenzo lothar louis luca lucas ludwig luigi luis lukas luke magnus malcolm manfred
    manuel marc marcel marcin marco marcos marcus marek mario mark markus marko martin mateo
    mateusz mathias matteo matthew matthias maurice mauricio max maximilian mehmet michael
    michal miguel mike mikhail milo miroslav mohamed mohammed morten moritz muhammad murat
    mustafa nathan neil nicholas nicolas niels nigel nikolai nikolas nils norbert norman octavio
    olaf oleg oliver omar oscar oskar otto owen pablo paolo pascal patrick patricio paul paulo
    pavel pedro percy peter petr philip philipp pierre pietro piotr rafael rainer ralf ralph
    ramon raphael rashid raul raymond reginald reinhard reinhold ricardo riccardo richard rob
    robert roberto roderick rodrigo roger roland rolf ron ronald rudolf rudy rupert russell
    salvatore samir samuel scott sean sebastian sergei sergio seth siegfried sigmund silvio
    simon stefan stefano stephen stefanos steve steven stuart sven svein tariq ted terence theo
    theodor theodore thiago thomas thorsten tim timothy tobias tom tomas tomasz tony torsten
    tristan ulf ulrich uwe valentin viktor victor vincent vincenzo vladimir volker walter warren
    werner wilfred wilhelm william wojciech wolfgang xavier yannick yusuf yves zacharias ryan
    isaac elijah levi caleb connor finn jude kwame kofi rajesh sanjay vikram amit anil suresh
    ravi deepak hiroshi kenji takeshi satoshi youssef khalid
    """
)
_GIVEN = _WOMEN | _MEN
_HER_ROLES = word_set(
    """
    mother mom mum mama sister daughter wife girlfriend fiancée fiancee aunt stepsister
    stepdaughter stepmother sister-in-law daughter-in-law mother-in-law nana grandmother grandma
    granddaughter niece landlady waitress actress midwife woman lady girl mrs ms miss frau
    madame
    """
)
_HIS_ROLES = word_set(
    """
    father dad papa brother son husband boyfriend uncle stepbrother stepson stepfather
    brother-in-law son-in-law father-in-law granddad grandfather grandpa grandson nephew waiter
    man guy bloke boy mr sir herr monsieur
    """
)
_ROLES = "|".join(sorted(_HER_ROLES | _HIS_ROLES, key=len, reverse=True))
_ROLE_BEFORE = re.compile(
    rf"\b(?P<role>{_ROLES})\.?(?:['’]s\sname)?,?\s(?:(?:is|was)\s)?(?:(?:called|named)\s)?$",
    re.IGNORECASE,
)
_ROLE_AFTER = re.compile(
    rf"(?:,|\s(?:is|was))\s(?:(?:my|our|his|her|their|the|a|[\w’'-]+['’]s)\s)(?:[\w-]+\s)?(?P<role>{_ROLES})\b",
    re.IGNORECASE,
)
# "Dr. Lindqvist is on call and her pager is …": nobody else is named between.
_GOES_ON = re.compile(r"[^A-ZÀ-Þ;]*,?\sand\s(?P<pro>she|he|her|his)\b")


def gender_of(*, name: str, text: str = "") -> Gender:
    """What a name ("Petra", "the team's father") tells, or what its sentence says of it."""
    at = text.find(name)
    roles = (
        (_ROLE_BEFORE.search(text, max(0, at - 40), at), _ROLE_AFTER.match(text, at + len(name)))
        if at >= 0
        else ()
    )
    words = words_of(name)
    said = [role["role"].lower() for role in roles if role]
    goes_on = _GOES_ON.match(text, at + len(name)) if at >= 0 else None
    for word in [*said, *words[-1:], *words[:1], goes_on["pro"] if goes_on else ""]:
        if word in {"she", "her"}:
            return Gender.SHE
        if word in {"he", "his"}:
            return Gender.HE
        if word in _HER_ROLES or (word in _WOMEN and word not in said):
            return Gender.SHE
        if word in _HIS_ROLES or (word in _MEN and word not in said):
            return Gender.HE
    return Gender.UNKNOWN


def is_given_name(*, name: str) -> bool:
    """Whether the first word of a name is a given name that is known."""
    return name.split()[0].lower() in _GIVEN
