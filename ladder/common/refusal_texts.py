"""The refusals of services that a person meets on pages, as texts with values.

Services raise them in English, for the API and the command. `stored_texts` finds the
text of such a sentence, and translates it. The first pattern that fits is taken.
"""

from django.utils.translation import gettext_noop as _

REFUSALS = (
    _("%(season)s is %(status)s. Archive it first."),
    _("The finals of %(season)s were played. Archive the season."),
    _("Finals have at least one prize rank, and at most %(most)s."),
    _("%(season)s has open games. Freeze it and wait for their end."),
    _(
        "%(season)s is frozen and cannot be archived yet: %(why)s. No new game begins;"
        " archive it again in a minute."
    ),
    _("%(season)s is not %(before)s or %(what)s, so it cannot become %(after)s."),
    _("%(season)s is not %(before)s, so it cannot become %(after)s."),
    _("%(number)s games that are scheduled or running"),
    _("%(number)s finished games that are not rated yet"),
    _("%(number)s voided games that are still counted"),
    _("There is no ladder %(ladder)s, or it has no season."),
    _("%(slug)s is the default ladder; end that there first"),
    _("%(value)s; it must be a number from %(least)s to %(most)s"),
    _("%(value)s is not a key of a %(what)s; the keys are %(names)s"),
    _("another operator changed the ladders at the same moment; try again"),
    _("nothing may follow %(action)s in this answer"),
    _("The answer has no action. Choose at least one."),
    _("This question is answered. Read the state again."),
    _("The game does not ask this question now. Read the state again."),
    _("An answer has at most %(count)s actions."),
    _("An action has at most %(count)s characters."),
    _("Too many actions. Go on in %(wait)s s."),
    _("Choose an action from the list."),
    _("No bot has entered yet, so %(count)s entrants are supposed."),
    _("%(entrants)s entrants cannot play this format, so %(count)s are supposed."),
    _("No worker runs now, so one game at a time is supposed."),
    _("No game was played yet, so %(seconds)s s a game are supposed."),
    _(
        "%(user)s has %(count)s tokens, the most that one person may have. Revoke one"
        " of them first."
    ),
    _("A user name has at most %(count)s characters."),
    _(
        "%(name)s is not a user name. Use at most %(count)s letters, digits and the"
        " characters @ . + - _"
    ),
    _(
        "%(name)s mixes letters of different scripts, so it may imitate another name."
        " Choose another one."
    ),
    _("The name %(name)s is reserved. Choose another one."),
    _("Names that begin with '%(prefix)s' are reserved. Choose another one."),
    _("The name %(name)s is taken. Choose another one."),
    _(
        "This invitation is not valid. It is unknown, used up or expired. Copy the"
        " whole code, or ask the operator for a new one."
    ),
    _("Nobody can sign up here. Ask the operator for an account."),
    _("GitHub did not confirm who you are. Try again, or sign in with your password."),
    _("The name has invisible characters. Choose another name."),
    _("A name has 1 to %(count)s printable characters. Choose another name."),
    _("The name mixes letters of different scripts. Choose another name."),
    _("A letter has at most %(count)s accents or other marks. Choose another name."),
    _("Names that begin with 'house' are reserved. Choose another name."),
    _("There is already a bot called %(name)s. Choose another name."),
    _("The name %(name)s is reserved. Choose another name."),
    _("The bot is %(status)s, and its owner cannot change that. Ask the operator."),
    _(
        "You have %(count)s bots, the most that one person may have. Upload to one of"
        " them instead."
    ),
    _("The bot is %(status)s. Bring it back first."),
    _(
        "%(upload)s is %(status)s, and only an upload that was ready before can play"
        " again. Choose another one."
    ),
    _("The files of %(upload)s are gone; upload them again."),
    _("The bot is %(status)s. Bring it back before you upload."),
    _("You may upload %(count)s times an hour. Try again in %(seconds)s seconds."),
    _(
        "Your uploads fill the %(bytes)s bytes that one person may fill. Ask the"
        " operator for more."
    ),
    _("There is no entry that runs here. Name the main file one of: %(names)s."),
    _(
        "There is no entry file; the archive holds %(files)s. Put one of %(names)s at"
        " the top of the archive, or a program named %(program)s (an ELF file or a"
        " script with a #! line)."
    ),
    _("There is no file in the archive. Pack your bot's folder."),
    _("The archive is damaged (it points outside itself). Pack it again."),
    _("The archive is damaged (%(damage)s). Pack it again as zip or tar.gz."),
    _(
        "The archive takes too much time or memory to open. Pack it again as zip or"
        " tar.gz."
    ),
    _("%(path)s is in the archive twice. Keep one of them."),
    _(
        "The archive holds more bytes than it declares, and more than the limit."
        " Leave out what the bot does not need to play."
    ),
    _("The upload is empty. Choose a zip, a tar.gz or a bot file."),
    _(
        "The upload has %(size)s bytes; the limit is %(limit)s. Leave out what the"
        " bot does not need to play."
    ),
    _(
        "The archive has %(count)s entries or more; the limit is %(limit)s. Leave out"
        " what the bot does not need to play."
    ),
    _(
        "The archive unpacks to %(size)s bytes or more; the limit is %(limit)s. Leave"
        " out what the bot does not need to play."
    ),
    _(
        "The archive unpacks to more than %(limit)s bytes. Leave out what the bot"
        " does not need to play."
    ),
    _("%(path)s is not a relative path with / between its parts."),
    _("%(path)s points out of the archive. Pack the folder itself."),
    _(
        "%(path)s has unprintable characters or a part that begins with a dash."
        " Rename it."
    ),
    _("%(path)s… is too long or too deep. Use shorter names."),
    _("%(path)s is a link or a device. Put the file itself into the archive."),
    _(
        "This is neither a zip nor a tar.gz, nor a program, nor one source file"
        " (%(suffixes)s). Pack the bot's folder as a zip."
    ),
    _("%(path)s is encrypted. Pack without a password."),
    _("%(path)s is packed in an unusual way. Use plain zip."),
    _("This service analyses no games. Download the replay and use: torres analyse"),
    _(
        "The limit is %(count)s analyses in 24 hours. Try again later, or download"
        " the replay and use: torres analyse"
    ),
    _("%(count)s analyses are waiting already. Try again later."),
    _("Nothing can be compared there: %(why)s."),
    _("%(bot)s is not yours or it is %(status)s, so it cannot play."),
    _("The comparison is %(status)s already."),
    _(
        "bounds: write two numbers of nElo from %(least)s to %(most)s, the smaller"
        " one first, such as [0, 50]."
    ),
    _("error: use a probability from %(least)s to below %(most)s."),
    _("max_games: use a number from %(least)s to %(most)s."),
    _("One of your comparisons is running. Cancel it, or wait until it ends."),
    _("The limit is %(count)s comparisons in 24 hours. Try again later."),
    _("%(bot)s has no ready upload. Upload a program, or wait for its check."),
    _("seats: games on %(ladder)s have %(known)s seats, not %(seats)s."),
    _("%(bot)s has no older version that was ready. Upload a new one."),
    _("old: %(version)s is no older version that was ready. Choose another number."),
    _("Your last run has not ended yet. Wait for its result, then run this code."),
    _("Too many people run code at this moment. Try again in a minute."),
    _(
        "Code may run %(count)s times in an hour here. Try again in %(minutes)s min,"
        " or at home with: torres check"
    ),
    _(
        "You follow %(count)s bots, ladders and tournaments, the most that one person"
        " may follow. Stop following one of them first."
    ),
    _(
        "This link is not valid. Copy all of it from the mail, or sign in and change"
        " what is sent to you on the page of what you follow."
    ),
    _("This service offers no games without an account. Sign up or sign in first."),
    _("No house bot is ready. Try again when the house bots have started."),
    _(
        "As many guests play as this service allows at once. Try again in some"
        " minutes, or sign up and play with an account."
    ),
    _(
        "Guests may begin %(count)s games in an hour from one address. Try again in"
        " %(minutes)s min, or sign up and play with an account."
    ),
    _("The limit is %(count)s games by hand in an hour. Try again later."),
    _("This service offers no games by hand. Play at home with: torres play"),
    _("You play a game already. Finish it, or give it up."),
    _("Too many people wait for a game. Try again in some minutes."),
    _("There is no ruleset %(ruleset)s. Choose one from the list."),
    _("A game has %(least)s to %(most)s seats. Choose one to %(bots)s bots."),
    _("The position has %(seats)s seats: choose bots for %(bots)s of them."),
    _("A game against %(bots)s bots has the seats 0 to %(last)s. Choose another seat."),
    _("The game is over in this position. Choose an earlier one."),
    _(
        "The position has switches that differ from its ruleset. Leave them out: the"
        " bots know the rulesets."
    ),
    _(
        "One of these bots does not play by hand any more: it has a new version, or"
        " its owner does not offer it. Choose another one."
    ),
    _("This is no position. %(why)s."),
    _(
        "%(bot)s plays on no ladder with the ruleset %(ruleset)s. Choose another bot,"
        " or another ruleset."
    ),
    _("The files of %(bot)s are gone. Choose another bot."),
    _("The practice game has ended already."),
    _("A URL has at most %(count)s characters."),
    _("%(url)s is not a URL with a host that begins with https:// or http://."),
    _("The URL must have neither a user name nor a fragment."),
    _(
        "%(host)s leads to an address that is not public. Webhooks are sent to public"
        " addresses only."
    ),
    _(
        "Port %(port)s is not a port for web servers. Use 80, 443, or a port from"
        " %(least)s to %(most)s."
    ),
    _("The host %(host)s has no address. Check the URL, or try again later."),
    _("Too many tests and replays. Try again in %(seconds)s seconds."),
    _("The webhook is switched off. Set `active` to true first."),
    _(
        "You have %(count)s webhooks, the most that one person may have. Delete one"
        " of them first."
    ),
    _("Give at most %(count)s %(what)s."),
    _("The limit is %(count)s challenges in 24 hours. Try again later."),
    _("These bots have no ready upload: %(bots)s."),
    _("A bot cannot meet itself. Choose different bots."),
    _("A match on %(ladder)s is played by %(sizes)s bots, not by %(count)s."),
    _("There is no bot %(name)s."),
    _("One of the bots has to be yours."),
    _("%(bot)s is %(status)s, so it cannot play."),
    _("%(bot)s does not play on %(ladder)s."),
    _("The operators decide which bots play on %(ladder)s. Ask them to admit %(bot)s."),
    _("An operator has removed %(bot)s from %(ladder)s. Ask the operator."),
    _("%(bot)s is not on the ladder %(ladder)s."),
    _("There is no bot “%(name)s”. Choose one from the list of bots."),
    _("There is no bot “%(name)s”. Did you mean %(names)s?"),
    _(
        "You have %(count)s tournaments that are not over, the most that one"
        " organiser may have. Finish or cancel one of them first."
    ),
    _(
        "The results of this tournament are not held back, so there is nothing to"
        " reveal."
    ),
    _(
        "Some rounds are not revealed yet. Reveal all of them, then archive the"
        " tournament."
    ),
    _("The tournament is %(status)s; entrants can be %(done)s only before the start."),
    _("The tournament is %(status)s; only one that runs can be paused."),
    _("The tournament is %(status)s; only one that is paused can be resumed."),
    _(
        "The tournament is %(status)s; only one that is finished or cancelled can be"
        " archived, and only once."
    ),
    _("%(bot)s has left, so there is no place to take. Enter %(other)s instead."),
    _("%(bot)s has entered already. Choose another bot."),
    _(
        "Only %(count)s can play; a tournament needs %(least)s. Wait until more bots"
        " have entered and checked in, or cancel the tournament."
    ),
    _(
        "The tournament is %(status)s; only one that is %(before)s can become"
        " %(after)s."
    ),
    _("Entry is not open: the tournament is %(status)s."),
    _("The bot is %(status)s; only active bots can enter."),
    _(
        "The bot has no submission that is ready. Upload one, and enter the bot when"
        " it is validated."
    ),
    _("Seed %(seed)s is taken. Choose another one."),
    _("The organiser has to correct the tournament first; its description is wrong."),
    _(
        "The tournament is full: it has %(count)s entrants, the most that this format"
        " allows. Ask the organiser for a Swiss, which allows more."
    ),
    _(
        "You have entered %(count)s bots, the most that one owner may enter here."
        " Withdraw one of them first."
    ),
    _("%(bot)s is not in this tournament."),
    _("Check-in is not open: the tournament is %(status)s."),
    _("The tournament is %(status)s; nobody can withdraw any more."),
    _("Round %(round)s is not over. Reveal it when all its matches are decided."),
    _("The tournament is %(status)s, so %(fields)s cannot change any more."),
    _("The tournament is archived, so nothing of it can change any more."),
    _(
        "Only an open fixture can be given up of which the service failed to play a"
        " game and no game is open."
    ),
    _("%(value)s; it must be a whole number from %(least)s to %(most)s"),
    _("%(value)s; it must be true or false"),
    _("%(value)s; it must be an odd number"),
    _("%(value)s; it must be one of %(names)s"),
    _("%(value)s; it must be a list of names"),
    _("%(value)s; it must be a list of %(seats)s numbers, highest first"),
    _(
        "%(value)s; an elimination has two seats at a table; for more seats use"
        " round_robin, swiss or groups"
    ),
    _("it must not be earlier than %(field)s"),
    _("%(time)s UTC is in the past; choose a later time, or remove it"),
    _("%(slug)s is taken; give another one with the key slug"),
    _("there is no such ladder; there are %(names)s"),
    _("%(count)s bots; this format allows at most %(most)s"),
    _("%(count)s bots have entered; this format allows at most %(most)s"),
    _("%(bot)s is named twice; a bot enters a tournament once"),
    _("%(bot)s has no submission that is ready; enter it later"),
    _("%(bot)s is %(status)s; only active bots enter"),
    _("You may not do this: %(act)s."),
    _("There is no %(what)s %(name)s."),
    _("%(text)s is not the number of a %(what)s."),
    _("There is no %(what)s with %(field)s %(name)s."),
    _(
        "Sign in with a password for this. What it changes would outlive the token"
        " with which this session was opened."
    ),
    _("The game is %(status)s; only a scheduled one is cancelled."),
    _("The game is %(status)s; only a running one is taken back."),
    _("Game %(game)s is not finished, so it cannot be voided."),
    _("Too many attempts. Try again in %(wait)s seconds."),
    _("Too many attempts. Try again in %(wait)s second."),
    _("Too many replays. Try again in %(wait)s seconds."),
    _("Too many replays. Try again in %(wait)s second."),
    _("Too many animations. Try again in %(wait)s seconds."),
    _("Too many animations. Try again in %(wait)s second."),
)
