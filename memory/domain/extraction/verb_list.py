"""The verbs that the rules know: regular ones by base form, irregular ones with their forms."""

from __future__ import annotations

REGULAR = """
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
IRREGULAR = """
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
