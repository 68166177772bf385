"""The verbs that the rules know: regular ones by base form, irregular ones with their forms."""

from __future__ import annotations

REGULAR = """
    abandon absorb abstain accelerate accept accompany accrue accuse achieve ack acknowledge
    acquire act adapt add adjourn adjust admire admit adopt advance advertise advise afford
    aggregate agree aim alert allow amend amplify analyse analyze anchor announce answer
    anticipate apologise appeal appear apply appoint appraise appreciate approve archive argue
    arise arrange arrive ask assemble assess assign assist assume assure attach attack attend
    attract auction audit authorise authorize automate avoid await award babysit back backport
    bail bake balance ban bark base batch bathe battle beg behave belong benefit bet bill bind
    bisect blame bleed blend bless blink block blog bluff board boil bolt book boost bore borrow
    bother bounce bow braise brake breed brew bribe brief browse brush budget build bump bundle
    burn busk cache calculate call calm camp cancel caption care carry caulk cause celebrate
    certify chair change chaperone charge chase chat check chew choke chop circulate cite claim
    clash classify clean clear climb clog clone close coach coat code coincide collapse collect
    combine come comfort command comment commit communicate commute compare compensate compete
    compile complain complete compose compress conclude conduct confide configure confirm
    confiscate conflict conform connect conserve consider consist consult consume contact contain
    continue contract contribute control convert convince cook cool cooperate coordinate copy
    correct corrupt cost count cover crack crash crawl creak create credit criticise crochet crop
    cross crush cry culminate curate cure cycle damage dance dare darn date deal debate debug
    decay decide declare decline decorate decrypt dedicate dedupe defend defer define defrost
    degrade degrease dehydrate delay delegate delete deliver demand demonstrate deny depart
    depend depict deploy deposit deprecate descale descend describe deserve design destroy detach
    detect develop devote diagnose dial die differ digest dilute diminish direct disable disagree
    disappear disappoint disconnect discontinue discover discuss disinfect dislike dislocate
    dispatch display dispute disrupt dissolve distil distill distribute dive divert divide
    divorce dock document dominate donate double doubt downgrade download downsize draft drag
    drain dress drift drill drip drop drown dry dub dump dunk duplicate dye earn echo edit elect
    eliminate email embed embrace embroider emerge emigrate emit emphasise employ enable
    encourage encrypt end enforce engage engrave enhance enjoy enrol ensure enter entrust equal
    erase erupt escalate establish estimate etch evacuate evaluate evaporate evict evolve examine
    exceed exclude excuse execute exempt exercise exhaust exhibit exist expand expect expedite
    experience expire explain explode explore export expose express extend face facilitate fade
    fail falter fancy farm fasten favour ferment fertilise fertilize fetch fill filter fine
    finish fire fish fit fix flag flash flee flicker float flood flow flush focus foil fold
    follow forage forbid force forecast fork format forward foster frame freelance freeze
    frustrate fry fuel fulfil fume function fund furnish gain garden gather generate glaze glue
    govern grab grade graduate grant graze greet grill grind groom grumble guarantee guard guess
    guide gurgle halt hammer hand handle happen harm harvest hash hatch hate haunt head heal heat
    help herd hesitate hibernate highlight hike hint hire hitch hold hoover hope host hover hug
    hum hunt hurry identify ignore illustrate imagine immigrate imply import impose impress
    improve include increase index infect influence inform infuse inhale inherit inject injure
    insist inspect inspire install insulate insure integrate intend intercept interfere interrupt
    interview introduce invent invest invigilate invite invoice involve iron isolate issue itch
    jam jog join joke jot juggle jump kayak keep kick kill kiss knead knit knock label lack lag
    laminate land last lather laugh launch lead leak learn lease leave lecture lend lengthen let
    licence license lie lift like limit link lint liquidate list listen litter live load loan
    lobby localise lock log look loop lose love lower lubricate mail maintain make manage map
    march marinate mark marry mask master matter mature measure melt mend mention mentor merge
    mess migrate mind mingle mirror misplace miss mix mock model moderate modify monitor moor mop
    motivate mount move mow mulch multiply mute nag nail name narrow navigate need negotiate nest
    neuter nibble nod nominate notarise notice notify number nurse nurture obey object observe
    obtain occur offer officiate onboard open operate oppose optimise optimize orbit order
    organise organize originate outgrow outsell outsource overcome overcook overfeed overhaul
    overheat overlap overlook oversee overwinter overwrite owe own pack paddle page paginate
    paint pamper park parse participate pass patch pause pedal peel penetrate perch perform
    permit persist persuade phase phone pick pickle pilot pin ping pitch plan plant plaster play
    plead pledge plough plug plumb poach polish poll populate postpone pour power practice
    practise praise pray preach predict prefer preheat prepare present preserve preside press
    prevent print prioritise proceed process procure produce prohibit prolong promise promote
    pronounce proof proofread propagate propose prosper protect prove provide proxy prune publish
    pull puncture punish purchase purge purr push qualify quarantine query question queue quit
    race rain raise rank rate ratify ration ravage reach react realise realize rebase reboil
    reboot rebrand rebuild receive recite reckon recognise recognize recommend reconcile
    reconnect record recover recruit recycle redecorate redeploy redesign redirect redistribute
    redo reduce refactor refer refill refinance reflect refund refurbish refurnish refuse regain
    register regret regulate rehearse rehome reimburse reinforce reinstall reject relate relax
    relay relearn release relist reload relocate rely remain remark remember remind remodel
    remove rename render renew renovate rent reorder repaint repair repeat replace reply report
    repot reproduce repurpose request require rerun reschedule rescue research reseat reseed
    resell resemble reserve reset resettle reshape reshoot resign resist resolve resort respond
    rest restart restore restrict restructure resume resurface retain retire retrain retreat
    retrieve retry return reuse reveal revert review revise revoke reward rewind rewire rewrite
    rezone rinse risk roast rob rock roll rotate route ruin rule rummage rust sabotage sail
    salvage sample sand sanitise satisfy save scald scale scan scare schedule scorch scrap
    scratch scream screen seal search seat secure seed seem seize select sense separate serialise
    serve settle sew shape shard share shave shear shelter shift shine ship shiver shop shorten
    shout shred shrink shuffle shut shuttle sign signal simmer simplify sink skate sketch ski
    skim skip slack slice slide slip slow smash smell smile smoke smuggle sneeze snow soak soar
    soften solder solve sort sound sow span spare spark spay specialise specialize specify
    speculate spell spill spin splice spoil sponsor spot spray spread sprint sprout squash squat
    squeeze stack staff stage stagger stain stall stamp start starve state stay steam steer step
    stew stimulate stir stitch stock stockpile stoke stop store stow straighten strain streamline
    strengthen stress stretch strike strip struggle study stutter subcontract sublet subscribe
    subside subsidise substitute succeed sue suffer suggest suit summarise summarize summon
    supervise supply support suppose surf surpass surprise surround survive suspect suspend
    sustain swallow swap swear sweat sweep swell swing switch tackle tag tail tailor talk tap
    tape target tarnish taste taxi tear tease telephone tell tempt tend terminate test testify
    thank thaw thicken threaten thrive throttle tick tidy tie tile tilt tinker tint toast toggle
    toil tolerate topple touch tour tow trace track trade train transcribe transfer transform
    translate transmit transport transpose trap travel treat trek trigger trim triple trust try
    tumble tune turn tutor twist type undergo underline undertake undo unfold unfreeze uninstall
    unite unlist unlock unmute unpack unplug unravel unsettle unsubscribe unveil update upgrade
    upload uproot urge use utilise vaccinate vacuum validate value vanish varnish vary ventilate
    venture verify vet veto vibrate video view violate visit voice void volunteer vote vouch wait
    wake walk wallpaper wander want warm warn warrant wash waste watch water weaken wean wear
    weave wedge weed weigh welcome weld whip whisk whisper whistle whitelist widen widow
    winterise wipe wish withhold witness wonder woo work worry wrap wreck wrestle wriggle yell
    yield zip
    """
# base, past, participle where they differ from the regular pattern
IRREGULAR = """
be:was,were:been become:became:become begin:began:begun bend:bent:bent bite:bit:bitten
blow:blew:blown break:broke:broken bring:brought:brought build:built:built buy:bought:bought
catch:caught:caught choose:chose:chosen come:came:come cost:cost:cost cut:cut:cut deal:dealt:dealt
dig:dug:dug do:did:done draw:drew:drawn drink:drank:drunk drive:drove:driven eat:ate:eaten
fall:fell:fallen feed:fed:fed feel:felt:felt fight:fought:fought find:found:found fly:flew:flown
forget:forgot:forgotten forgive:forgave:forgiven get:got:gotten give:gave:given
go:went:gone grow:grew:grown hang:hung:hung have:had:had hear:heard:heard hide:hid:hidden
hit:hit:hit hold:held:held hurt:hurt:hurt keep:kept:kept know:knew:known lay:laid:laid lead:led:led
leave:left:left lend:lent:lent let:let:let lose:lost:lost make:made:made mean:meant:meant
meet:met:met pay:paid:paid put:put:put burst:burst:burst
    bet:bet:bet cast:cast:cast upset:upset:upset beat:beat:beaten quit:quit:quit
    read:read:read ride:rode:ridden
ring:rang:rung rise:rose:risen run:ran:run say:said:said see:saw:seen sell:sold:sold send:sent:sent
set:set:set shake:shook:shaken shine:shone:shone shoot:shot:shot show:showed:shown shut:shut:shut
sing:sang:sung sit:sat:sat sleep:slept:slept speak:spoke:spoken spend:spent:spent split:split:split
spread:spread:spread stand:stood:stood steal:stole:stolen stick:stuck:stuck swim:swam:swum
take:took:taken teach:taught:taught tell:told:told think:thought:thought throw:threw:thrown
understand:understood:understood wake:woke:woken wear:wore:worn win:won:won wind:wound:wound
tear:tore:torn weave:wove:woven swear:swore:sworn strike:struck:struck swing:swung:swung
spin:spun:spun sweep:swept:swept bleed:bled:bled breed:bred:bred flee:fled:fled
forbid:forbade:forbidden
overcome:overcame:overcome undergo:underwent:undergone undo:undid:undone redo:redid:redone
shrink:shrank:shrunk sink:sank:sunk slide:slid:slid oversee:oversaw:overseen
undertake:undertook:undertaken rewrite:rewrote:rewritten resell:resold:resold freeze:froze:frozen
withdraw:withdrew:withdrawn write:wrote:written rebuild:rebuilt:rebuilt overrun:overran:overrun
"""
# Verbs that read at least as often as nouns; never enough by themselves to call words a clause.
