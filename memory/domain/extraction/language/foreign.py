"""Whether a sentence is English, by its small words: the rules read nothing else."""

from __future__ import annotations

import re

from .words import STOPWORDS, word_set

# Function words, verbs of the first person and the like that are no English words.
_ELSEWHERE = word_set(
    """
    ich du wir ihr und oder aber nicht kein keine ist sind bin habe hast hat haben mein meine
    meinen meiner meinem dein deine unser unsere ein eine einen einem einer der das den dem des
    mit auf für fuer zu zum zur von vom bei aus nach auch noch schon sehr gerne immer wohne
    arbeite heiße heisse bitte mag esse wird werden seit weil dass mir mich dich sich im je tu
    il elle nous vous ils elles suis sommes êtes sont mon ma mes ton ses notre votre nos et ou
    mais pas ne les des une du au aux avec pour dans chez sur qui que est ai avons habite
    travaille j'ai j'habite j'aime j'adore m'appelle c'est n'est n'ai s'il d'un d'une très aussi
    toujours depuis yo tú él nosotros ellos soy eres somos estoy está tengo tiene tienes mi mis
    su sus nuestro nuestra el los las un una unos y o pero con para por del al en vivo trabajo
    gusta gustan llamo muy también siempre desde porque hay años casa como io lui lei noi sono
    sei abbiamo ho mio mia miei il lo gli della dello degli di che e ma non per con nel nella
    sul alla vivo lavoro abito chiamo anche sempre perché piace ik jij wij hij zij ben bent zijn
    heb heeft hebben mijn jouw onze het een de niet geen maar met voor van naar bij ook altijd
    woon woont werk werkt omdat graag heet eu você nós eles sou somos são estou tenho tem temos
    meu minha meus minhas seu sua nosso o os uma um não com em no na dos das ao moro trabalho
    gosto chamo também muito desde e jag du vi han hon är har inte min mitt mina och eller men
    ett en på för med från till bor arbetar heter också alltid jeg er ikke og til fra bor jobber
    hedder ja ty on ona jestem jest mam ma nie się moja mój moje mieszkam pracuję lubię oraz ale
    dla jako bardzo
    """
)
# What is written the same in English, or stands in it often enough, tells nothing.
_BOTH = word_set(
    """
    in an am was war die so me on we is as do no a i he has come or his hat bin man den dem per
    ma sei du es er ja pan la le de ben tu ho mi el las los san her min on al dos des em na o e
    y un ton son sur pour men till mon en vivo est im ou hay come mag ne per lo di das von van
    der ty sees mam mina met bent ale com os ai au et eu jest har vi til non su um con mis med
    ses del mia alla nos nie il ist esse casa che
    """
)
_FOREIGN = _ELSEWHERE - _BOTH - STOPWORDS
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u2e80-\ud7ff\uf900-\ufaff]")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")


def is_foreign(*, text: str) -> bool:
    """Whether a sentence is written in another language than English.

    A name or an expression from elsewhere in an English sentence makes it no foreign one.
    """
    if text.isascii() and text.count(" ") < 2:
        return False
    other = len(_OTHER_SCRIPT.findall(text))
    if other > len(_LATIN.findall(text)):
        return True
    said = [word.replace("’", "'") for word in _WORD.findall(text)]
    words = [word.lower() for at, word in enumerate(said) if not at or word[0].islower()]
    english = sum(word == "I" or word.startswith("I'") for word in said)
    english += sum(word in STOPWORDS and word not in _BOTH for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    shared = sum(word in _BOTH and word in _ELSEWHERE for word in words)
    return foreign > english and foreign + shared > 1
