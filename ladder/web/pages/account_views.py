"""The pages and actions of signed-in users: bots, uploads, challenges and tokens."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.core.validators import slug_re
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _, gettext_noop
from django.views import View
from django.views.decorators.cache import never_cache

from ladder.accounts import scopes, sessions, tokens
from ladder.accounts.models import GitHubIdentity
from ladder.accounts.roles import is_operator
from ladder.bots import selectors as bots, services, submissions
from ladder.bots.models import Bot, Submission
from ladder.common.stored_texts import translated
from ladder.ratings import challenges, leaderboard as ratings, memberships
from ladder.ratings.models import Ladder
from ladder.tournaments import services as entries, visibility as tournaments
from ladder.web.api import problems
from ladder.web.api.throttles import too_often
from ladder.web.destinations import account_url
from ladder.web.pages import dashboard, forms
from torres.common.errors import LadderError

MAX_SUGGESTIONS = 50  # bots that the field for an opponent suggests
TOKEN_FIELD_IDS = "token-%s"  # noqa: S105 - the page has another field for a name


@method_decorator(never_cache, "dispatch")
class SignedInView(LoginRequiredMixin, View):
    """A view that redirects anonymous visitors to the sign-in page."""

    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        if request.user.is_authenticated and (why := self.why_forbidden(request)):
            return problems.answer(
                request, HTTPStatus.FORBIDDEN, "permission-denied", why
            )
        return super().dispatch(request, *args, **kwargs)

    def why_forbidden(self, request: HttpRequest) -> str:
        """Return why a signed-in person may not use the view; empty if they may."""
        return ""

    def handle_no_permission(self) -> HttpResponseRedirect:
        # A session may end while somebody fills in a form. The address of its action
        # cannot be opened again, unless it is a page as well.
        is_form_of_page = self.request.method == "POST" and hasattr(self, "get")
        wanted = self.request.path if is_form_of_page else ""
        return redirect(account_url(self.request, "sign-in", wanted))

    def person(self) -> User:
        if not isinstance(self.request.user, User):
            raise Http404  # never reached: LoginRequiredMixin has redirected
        return self.request.user

    def own_bot(self, slug: str) -> Bot:
        if not slug_re.match(slug):
            raise Http404
        return get_object_or_404(Bot, slug=slug, owner=self.person())


class PageAction(SignedInView):
    """A POST that changes something, and leads back to a page also if it is refused."""

    page = "bot-page"

    def post(self, request: HttpRequest, **named: Any) -> HttpResponse:
        try:
            answer = self.act(**named)
        except LadderError as refusal:
            messages.error(request, str(refusal))
            answer = None
        return answer or self.back(**named)

    def act(self, **named: Any) -> HttpResponse | None:
        """Make the change; return None to go back. A LadderError is shown."""
        raise NotImplementedError

    def back(self, **named: Any) -> HttpResponse:
        """Return to the page, whose address has the first name of this one."""
        return redirect(self.page, *list(named.values())[:1])


class OperatorView(SignedInView):
    """A page for operators only; `refusal` is the answer to other people."""

    scope = "operate"
    refusal = gettext_noop("Only operators of this service may do that.")

    def why_forbidden(self, request: HttpRequest) -> str:
        return "" if is_operator(request.user) else self.refusal


class AccountPage(SignedInView):
    """The own bots at a glance, and the way to all that belongs to the account."""

    def get(self, request: HttpRequest) -> HttpResponse:
        person = self.person()
        context = {
            "own_bots": dashboard.own_bots(person),
            "tokens": person.tokens.count(),
            "webhooks": person.webhooks.count(),
            "new_bot": forms.NewBotForm(),
            "by_token": sessions.is_by_token(request),
            "sends_mail": settings.TORRES_SENDS_MAIL,
            "github": GitHubIdentity.objects.filter(user=person).first(),
        }
        return render(request, "web/me.html", context)


class CreateBotAction(PageAction):
    page = "me"

    def act(self, **named: Any) -> HttpResponse | None:
        form = forms.NewBotForm(self.request.POST)
        if not form.is_valid():
            messages.error(self.request, _("The name of a bot has 1 to 64 characters."))
            return None
        bot = services.create_bot(self.person(), form.cleaned_data["name"])
        return redirect("bot-page", bot.slug)


class UploadAction(PageAction):
    def act(self, **named: Any) -> HttpResponse | None:
        request = self.request
        bot = self.own_bot(named["slug"])
        client = f"user:{self.person().pk}"
        if too_many := too_often(request, "upload", client, "uploads"):
            return too_many
        form = forms.UploadForm(request.POST, request.FILES)
        if not form.is_valid():
            messages.error(request, _("Choose a file, then upload it."))
            return None
        file = form.cleaned_data["archive"]
        submission = submissions.submit(bot, file.file, file.name)
        return redirect("submission-page", submission.pk)


class WithdrawAction(PageAction):
    def act(self, **named: Any) -> None:
        services.withdraw(self.own_bot(named["slug"]))


class BringBackAction(PageAction):
    def act(self, **named: Any) -> None:
        services.bring_back(self.own_bot(named["slug"]))


class LadderAction(PageAction):
    """Let an own bot join a ladder, or leave it."""

    def act(self, **named: Any) -> None:
        bot = self.own_bot(named["slug"])
        ladder = get_object_or_404(Ladder, slug=named["ladder"])
        move = memberships.join if named["action"] == "join" else memberships.leave
        move(bot, ladder)


class ActivateAction(PageAction):
    """Let an older upload play again."""

    def act(self, **named: Any) -> HttpResponse | None:
        client = f"user:{self.person().pk}"
        submission = self.submission(**named)
        if too_many := too_often(self.request, "upload", client, "changes"):
            return too_many
        submissions.activate(submission)
        messages.success(
            self.request, _("%(version)s plays from now on.") % {"version": submission}
        )
        return redirect("bot-page", submission.bot.slug)

    def back(self, **named: Any) -> HttpResponse:
        return redirect("bot-page", self.submission(**named).bot.slug)

    def submission(self, pk: int) -> Submission:
        own = Submission.objects.filter(bot__owner=self.person())
        return get_object_or_404(own.select_related("bot"), pk=pk)


class ChallengePage(SignedInView):
    """The form for an unrated match against chosen bots."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        ladder = self._ladder(slug)
        initial = {name: request.GET.get(name, "") for name in ("bot", "one")}
        sizes = ladder.table_sizes
        form = forms.ChallengeForm(
            self._own_bots(), sizes, initial=initial, search=self._search(ladder)
        )
        return self._page(ladder, form, 200)

    def post(self, request: HttpRequest, slug: str) -> HttpResponse:
        ladder = self._ladder(slug)
        form = forms.ChallengeForm(
            self._own_bots(),
            ladder.table_sizes,
            request.POST,
            search=self._search(ladder),
        )
        if form.is_valid():
            try:
                match = challenges.challenge(self.person(), ladder, form.seats())
            except LadderError as refusal:
                form.add_error(None, translated(str(refusal)))
            else:
                messages.success(request, _("Your challenge is scheduled."))
                return redirect("match-page", match.pk)
        return self._page(ladder, form, 422)

    def _ladder(self, slug: str) -> Ladder:
        return get_object_or_404(ratings.ladders(), slug=slug)

    def _search(self, ladder: Ladder) -> str:
        """Return the address that suggests opponents."""
        return f"{reverse('bot-search')}?{urlencode({'ladder': ladder.slug})}"

    def _own_bots(self) -> list[Bot]:
        """Return the user's bots that have a version to play with."""
        own = bots.bots().filter(owner=self.person(), status=Bot.Status.ACTIVE)
        return [bot for bot in own if getattr(bot, "playing", None)]

    def _page(
        self, ladder: Ladder, form: forms.ChallengeForm, status: int
    ) -> HttpResponse:
        season = ratings.current(ladder)
        suggestions = (
            ratings.leaderboard_page(season, 0, MAX_SUGGESTIONS).rows if season else []
        )
        context = {
            "ladder": ladder,
            "form": form,
            "left": challenges.challenges_left(self.person()),
            "most": challenges.MAX_CHALLENGES,
            "suggestions": suggestions,
        }
        return render(self.request, "web/challenge.html", context, status=status)


class TournamentEntryAction(PageAction):
    """Enter a bot, check it in, or take it out."""

    page = "tournament-page"

    def act(self, **named: Any) -> None:
        tournament = get_object_or_404(tournaments.tournaments(), slug=named["slug"])
        bot = self.own_bot(self.request.POST.get("bot", ""))
        if named["action"] == "enter":
            entries.enter(tournament, bot)
        elif named["action"] == "check-in":
            entries.check_in(entries.entrant_of(tournament, bot))
        else:
            entries.withdraw(entries.entrant_of(tournament, bot))


class TokensPage(SignedInView):
    """The own tokens. POST creates one, and the page shows it once.

    The database stores only its digest.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page()

    def post(self, request: HttpRequest) -> HttpResponse:
        form = forms.NewTokenForm(self.person(), request.POST, auto_id=TOKEN_FIELD_IDS)
        if not form.is_valid():
            return self.page(422, new_token=form)
        # A token must not outlive the token that opened this session, or permit more.
        expires_at = form.expires_at(sessions.expiry(request))
        try:
            token = tokens.new_token(
                self.person(),
                form.cleaned_data["name"],
                expires_at,
                form.permitted() & scopes.of_user(self.person()),
            )
        except LadderError as refusal:
            messages.error(request, str(refusal))
            return redirect("tokens")
        return self.page(shown=token)

    def page(self, status: int = 200, **parts: object) -> HttpResponse:
        """Render the page. `parts` are a form with errors, or a token to be shown."""
        person = self.person()
        context: dict[str, object] = {
            "tokens": [
                (token, ", ".join(scopes.names(token.scopes)))
                for token in person.tokens.order_by("-id")
            ],
            "new_token": forms.NewTokenForm(person, auto_id=TOKEN_FIELD_IDS),
            "now": timezone.now(),
        }
        return render(self.request, "web/tokens.html", context | parts, status=status)


class RevokeTokenAction(SignedInView):
    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        tokens.revoke_token(self.person(), pk)
        return redirect("tokens")
