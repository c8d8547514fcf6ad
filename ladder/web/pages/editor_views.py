"""The editor: write a bot in the browser, run it against a house bot, submit it.

Only the person who runs code sees it, with an account or as a guest.
"""

import io
import json
import re
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext, gettext_lazy as _
from django.views import View
from django.views.decorators.cache import never_cache

from engine.documents import Replay
from engine.editions import DEFAULT, PRESETS
from ladder.bots import services as bots, submissions
from ladder.bots.models import Bot
from ladder.common import rate_limits
from ladder.common.stored_texts import translated
from ladder.extras.editor import selectors, services
from ladder.extras.editor.models import TrialGame, TrialStatus
from ladder.extras.editor.services import LIMITS, MAX_SOURCE_BYTES, TrialTerms
from ladder.extras.practice import guests, selectors as practice
from ladder.extras.practice.selectors import Guest
from ladder.games import replays
from ladder.web.api.throttles import too_often
from ladder.web.destinations import account_url
from ladder.web.pages import game_table, guest_cookie
from ladder.web.pages.account_views import PageAction
from ladder.web.pages.forms import ChoicesForm, NewBotForm
from ladder.web.pages.practice_views import OwnPracticeView
from ladder.web.templatetags.formatting import edition
from torres.checking.findings import Severity
from torres.cli.new import KITS
from torres.common.errors import LadderError
from torres.common.names import name_key
from torres.drawing import frames

LINE = re.compile(r'\bbot\.(?:py", line |js:)(\d{1,5})\b')
"""Where an error of Python or Node.js names a line of the code."""


class TrialForm(ChoicesForm):
    """Code, and the game in which it runs."""

    language = forms.ChoiceField(widget=forms.HiddenInput)
    source = forms.CharField(label=_("Your bot"), strip=False, widget=forms.Textarea)
    opponent = forms.ChoiceField(label=_("Against"))
    ruleset = forms.ChoiceField(
        label=_("Rules"),
        choices=lambda: [(name, edition(name)) for name in PRESETS],
        initial=DEFAULT,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.house: dict[str, Bot] = {
            one.bot.slug: one.bot for one in selectors.house_bots()
        }
        names = [(slug, bot.name) for slug, bot in self.house.items()]
        self.set_choices("language", list(selectors.offered_languages().items()))
        self.set_choices("opponent", names)
        self.initial.setdefault("opponent", selectors.FAVOURITE)
        self.fields["source"].widget.attrs |= {
            "rows": 24, "wrap": "off", "spellcheck": "false", "autocomplete": "off",
            "autocapitalize": "off", "maxlength": MAX_SOURCE_BYTES,
            "aria-describedby": "source-help",
        }  # fmt: skip

    def clean_source(self) -> str:
        source: str = self.cleaned_data["source"].replace("\r\n", "\n")
        if len(source.encode("utf-8", "replace")) > MAX_SOURCE_BYTES:
            raise forms.ValidationError(
                f"The editor runs up to {MAX_SOURCE_BYTES >> 10} KiB of code. Upload a"
                " larger bot on its page."
            )
        return source

    def terms(self) -> TrialTerms:
        """Return the choices. The form must be valid."""
        chosen = self.cleaned_data
        opponent = self.house[chosen["opponent"]]
        return TrialTerms(
            chosen["language"], chosen["source"], opponent, chosen["ruleset"]
        )


@method_decorator(never_cache, "dispatch")
class WritePage(View):
    """The editor with a first bot, in the language `?language=`. POST runs the code."""

    def get(self, request: HttpRequest) -> HttpResponse:
        language = request.GET.get("language", "")
        if language not in selectors.offered_languages():
            language = next(iter(selectors.LANGUAGES))
        initial = {"language": language, "source": _first_bot(language)}
        return _page(request, _visitor(request), TrialForm(initial=initial))

    def post(self, request: HttpRequest) -> HttpResponse:
        player = _visitor(request)
        form = TrialForm(request.POST)
        if form.is_valid():
            player = player or guests.new_guest()
            client = rate_limits.address(request)
            try:
                trial = services.begin(player, client, form.terms())
            except LadderError as refusal:
                form.add_error(None, translated(str(refusal)))
            else:
                # On a phone, the result is below the code.
                address = f"{reverse('trial', args=[trial.pk])}#outcome"
                response = redirect(address)
                if isinstance(player, Guest):
                    guest_cookie.remember(response, player)
                return response
        return _page(request, player, form, status=422)


def _first_bot(language: str) -> str:
    _, file_name = selectors.LANGUAGES[language]
    return (KITS / language / file_name).read_text("utf-8")


def _visitor(request: HttpRequest) -> User | Guest | None:
    """Return who writes; None for a new visitor, also if the cookie has expired."""
    try:
        return guest_cookie.player_of(request)
    except LadderError:
        return None


def _page(
    request: HttpRequest,
    player: User | Guest | None,
    form: TrialForm,
    trial: TrialGame | None = None,
    status: int = 200,
) -> HttpResponse:
    others = selectors.trials_of(player) if player else TrialGame.objects.none()
    context = {
        "form": form,
        "language": form["language"].value(),
        "languages": selectors.offered_languages(),
        "refusal": selectors.refusal(player),
        "others": others.exclude(pk=trial.pk) if trial else others,
    }
    if trial is not None:
        context |= _shown(request, trial)
    return render(request, "web/write.html", context, status=status)


def _shown(request: HttpRequest, trial: TrialGame) -> dict[str, object]:
    """Return the contents of the part of the page that shows a trial."""
    is_waiting = trial.status == TrialStatus.WAITING
    faults = [one for one in trial.findings if one["severity"] == Severity.FAULT]
    replay = _replay(trial)
    user, here = request.user, reverse("trial", args=[trial.pk])
    return {
        "trial": trial,
        "headline": _headline(trial, lost_seat=bool(faults)),
        "line": _line(trial) if faults else None,
        "faults": faults,
        # The log has the further lines of the evidence.
        "findings": [
            one | {"evidence": one["evidence"].partition("\n")[0]}
            for one in trial.findings
        ],
        "hosted": practice.host_is_alive() if is_waiting else True,
        "table": game_table.of_replay(replay, None) if replay else None,
        "own_bots": user.bots.order_by("name") if isinstance(user, User) else [],
        "sign_in_address": account_url(request, "sign-in", here),
        "sign_up_address": account_url(request, "sign-up", here),
    }


def _replay(trial: TrialGame) -> Replay | None:
    """Return the replay of a trial; None if there is none, or no move in it."""
    if trial.result is None or trial.replay is None:
        return None
    document: Replay = json.loads(replays.unpack(bytes(trial.replay)))
    return document if document["moves"] else None


def _headline(trial: TrialGame, *, lost_seat: bool) -> str:
    """Return what became of a trial, in one sentence."""
    if trial.status == TrialStatus.WAITING:
        return gettext("Your bot waits for a free slot.")
    if trial.status == TrialStatus.RUNNING:
        return gettext("Your bot plays against %(bot)s.") % {"bot": trial.opponent.name}
    if trial.result is None:
        return gettext(trial.note) if trial.note else ""
    if lost_seat:
        return gettext("Your bot lost its seat by a mistake.")
    ranks, scores = trial.result["ranks"], trial.result["scores"]
    own, other = scores[trial.seat], scores[1 - trial.seat]
    sentence = gettext("Your bot lost %(own)s : %(other)s against %(bot)s.")
    if ranks.count(1) > 1:
        sentence = gettext("Your bot drew %(own)s : %(other)s against %(bot)s.")
    elif ranks[trial.seat] == 1:
        sentence = gettext("Your bot won %(own)s : %(other)s against %(bot)s.")
    return sentence % {"own": own, "other": other, "bot": trial.opponent.name}


def _line(trial: TrialGame) -> int | None:
    """Return the line of the code that an error names.

    Python prints the innermost call last, and Node.js prints it first.
    """
    lines = LINE.findall(trial.log)
    if not lines:
        return None
    return int(lines[-1 if trial.language == "python" else 0])


class OwnTrialView(OwnPracticeView):
    """A view of a trial of the visitor, with an account or as a guest."""

    def trial(self, pk: int) -> TrialGame:
        return get_object_or_404(selectors.trials_of(self.player), pk=pk)


class TrialPage(OwnTrialView):
    """The editor with the code of a trial, and its result beside it."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        trial = self.trial(pk)
        initial = {
            "language": trial.language,
            "source": trial.source,
            "opponent": trial.opponent.slug,
            "ruleset": trial.ruleset,
        }
        return _page(request, self.player, TrialForm(initial=initial), trial)


class TrialProgress(OwnTrialView):
    """The part of the page that changes, for the script that polls it."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        shown = _shown(request, self.trial(pk))
        return render(request, "web/_trial.html", shown)


class TrialFrames(OwnTrialView):
    """All positions of the game, for the viewer."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        replay = _replay(self.trial(pk))
        if replay is None:
            raise Http404
        names = [player["name"] for player in replay["players"]]
        positions = frames.of_replay(replay, LIMITS.as_dict())
        return JsonResponse({"players": names, "over": True, "frames": positions})


class SubmitTrialAction(PageAction):
    """Upload the code of a trial as a bot, a new one or an own one."""

    page = "trial"

    def act(self, **named: Any) -> HttpResponse | None:
        person = self.person()
        trials = selectors.trials_of(person).filter(status=TrialStatus.FINISHED)
        trial = get_object_or_404(trials, pk=named["pk"])
        if too_many := too_often(
            self.request, "upload", f"user:{person.pk}", "uploads"
        ):
            return too_many
        form = NewBotForm(self.request.POST)
        if not form.is_valid():
            messages.error(
                self.request, gettext("The name of a bot has 1 to 64 characters.")
            )
            return None
        name = form.cleaned_data["name"]
        own = person.bots.filter(name_key=name_key(name)).first()
        bot = own or bots.create_bot(person, name)
        code = io.BytesIO(trial.source.encode())
        _, file_name = selectors.LANGUAGES[trial.language]
        submission = submissions.submit(bot, code, file_name)
        return redirect("submission-page", submission.pk)
