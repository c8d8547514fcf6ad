"""The pages on which organisers create and run their tournaments."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import slug_re
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from ladder.accounts.roles import is_organiser
from ladder.common.stored_texts import translated
from ladder.moderation.audit import Operator
from ladder.moderation.models import MAX_WHY_LENGTH
from ladder.tournaments import organising, preview, services, visibility
from ladder.tournaments.acts import STEPS
from ladder.tournaments.document import read_document
from ladder.tournaments.models import BEFORE_THE_START, Entrant, Tournament
from ladder.tournaments.organising import Step
from ladder.tournaments.services import WrongTournamentStatus
from ladder.web.api import bot_search
from ladder.web.pages.account_views import PageAction, SignedInView
from ladder.web.pages.organise_forms import TEMPLATES, TournamentForm, as_number
from ladder.web.pages.pages import ROWS
from torres.common.errors import BadFields, LadderError
from torres.common.quoting import quoted


class OrganiserView(SignedInView):
    """A page for organisers. Other people read how to become one."""

    def why_forbidden(self, request: HttpRequest) -> str:
        if is_organiser(request.user):
            return ""
        return _(
            "Only organisers run tournaments. Ask the operator of this service to make"
            " you one."
        )

    def acting(self, why: str = "") -> Operator:
        return Operator(self.person(), why[:MAX_WHY_LENGTH])

    def rows(self) -> QuerySet[Tournament]:
        person: User = self.person()
        return visibility.with_drafts().filter(organising.managed_by(person))

    def tournament(self, slug: str) -> Tournament:
        return get_object_or_404(self.rows(), slug=slug)


class OrganisePage(OrganiserView):
    """The tournaments of an organiser. Operators see all."""

    def get(self, request: HttpRequest) -> HttpResponse:
        archived = request.GET.get("archived") == "1"
        rows = self.rows().filter(archived_at__isnull=not archived)
        context = {"tournaments": rows[:ROWS], "archived": archived}
        return render(request, "web/organise.html", context)


class NewTournamentPage(OrganiserView):
    """The form of a new tournament, with a preview."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page(TournamentForm(template=request.GET.get("template", "")))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = TournamentForm(request.POST)
        if not form.is_valid():
            return self.page(form, status=422)
        try:
            document = read_document(form.document())
            if request.POST.get("act") == "preview":
                return self.page(form, preview.preview_document(document))
            tournament = organising.create(self.acting(), document)
        except BadFields as refusal:
            form.show(refusal)
        except LadderError as refusal:
            form.add_error(None, ValidationError(translated(str(refusal))))
        else:
            messages.success(request, _("The draft is stored. Only you can see it."))
            return redirect("organise-tournament", tournament.slug)
        return self.page(form, status=422)

    def page(
        self,
        form: TournamentForm,
        found: preview.TournamentPreview | None = None,
        status: int = 200,
    ) -> HttpResponse:
        context = {"form": form, "preview": found, "templates": TEMPLATES}
        return render(self.request, "web/organise-new.html", context, status=status)


class EditTournamentPage(OrganiserView):
    """The form of a tournament that exists. After the start only the name changes."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        tournament = self.tournament(slug)
        return self.page(tournament, TournamentForm(stored=tournament))

    def post(self, request: HttpRequest, slug: str) -> HttpResponse:
        tournament = self.tournament(slug)
        form = TournamentForm(request.POST, stored=tournament)
        if not form.is_valid():
            return self.page(tournament, form, 422)
        try:
            document = read_document(form.document(), tournament)
            organising.edit(self.acting(), tournament, document)
        except BadFields as refusal:
            form.show(refusal)
        except LadderError as refusal:
            form.add_error(None, ValidationError(translated(str(refusal))))
            return self.page(tournament, form, refusal.http_status)
        else:
            messages.success(request, _("The changes are stored."))
            return redirect("organise-tournament", slug)
        return self.page(tournament, form, 422)

    def page(
        self, tournament: Tournament, form: TournamentForm, status: int = 200
    ) -> HttpResponse:
        context = {"form": form, "tournament": tournament}
        return render(self.request, "web/organise-edit.html", context, status=status)


class OrganisedTournamentPage(OrganiserView):
    """One tournament: its preview, the steps that are possible, and its entrants."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        tournament = self.tournament(slug)
        steps = organising.possible_steps(tournament)
        context = {
            "tournament": tournament,
            "steps": [
                (step, STEPS[step].label) for step in steps if step != Step.CANCEL
            ],
            "can_cancel": Step.CANCEL in steps,
            "before": tournament.status in BEFORE_THE_START,
            "preview": preview.preview_or_none(tournament),
            "entrants": visibility.entrants(tournament),
            "max_why": MAX_WHY_LENGTH,
        }
        return render(request, "web/organise-tournament.html", context)


class _ChangeAction(PageAction, OrganiserView):
    """Base class: change a tournament, and go back to its page."""

    page = "organise-tournament"

    def act(self, **named: Any) -> None:
        tournament = self.tournament(named.pop("slug"))
        messages.success(self.request, self.change(tournament, **named))

    def change(self, tournament: Tournament, **kwargs: Any) -> str:
        """Make the change; return what has happened."""
        raise NotImplementedError

    def field(self, name: str) -> str:
        return self.request.POST.get(name, "").replace("\0", "").strip()

    def entrant(self, tournament: Tournament, slug: str) -> Entrant:
        if not slug_re.match(slug):
            raise organising.UnknownBot(f"There is no bot {quoted(slug)}.")
        return services.entrant_of(tournament, organising.bot_named(slug))


class StepAction(_ChangeAction):
    """Take a step."""

    def change(self, tournament: Tournament, **kwargs: Any) -> str:
        step: Step = kwargs["step"]
        why = self.field("why")
        if step == Step.CANCEL and not why:
            raise WrongTournamentStatus(
                _(
                    "Give the reason of the cancellation; the page of the tournament"
                    " shows it."
                )
            )
        organising.take(self.acting(why), tournament, step)
        return STEPS[step].done


class EnterBotAction(_ChangeAction):
    """Enter a bot by its name or slug, perhaps with a seed."""

    def change(self, tournament: Tournament, **kwargs: Any) -> str:
        text = self.field("bot")
        bot = bot_search.find(text) if text else None
        if bot is None:
            raise organising.UnknownBot(bot_search.no_such_bot(text))
        seed = read_seed(bot.slug, self.field("seed"))
        organising.enter(self.acting(), tournament, bot, seed)
        return _("%(bot)s has entered.") % {"bot": bot.name}


class WithdrawEntrantAction(_ChangeAction):
    """Withdraw an entrant."""

    def change(self, tournament: Tournament, **kwargs: Any) -> str:
        entrant = self.entrant(tournament, kwargs["bot"])
        organising.withdraw(self.acting(), entrant)
        return _("%(bot)s has left.") % {"bot": entrant.bot.name}


class ReplaceEntrantAction(_ChangeAction):
    """Let another bot take the place of an entrant."""

    def change(self, tournament: Tournament, **kwargs: Any) -> str:
        entrant = self.entrant(tournament, self.field("bot"))
        text = self.field("by")
        bot = bot_search.find(text) if text else None
        if bot is None:
            raise organising.UnknownBot(bot_search.no_such_bot(text))
        organising.replace(self.acting(), entrant, bot)
        names = {"bot": bot.name, "replaced": entrant.bot.name}
        return _("%(bot)s takes the place of %(replaced)s.") % names


class SeedsAction(_ChangeAction):
    """Set the seeds of all entrants. An empty field removes a seed."""

    def change(self, tournament: Tournament, **kwargs: Any) -> str:
        seeds = {
            name.removeprefix("seed-"): read_seed(
                name.removeprefix("seed-"), self.field(name)
            )
            for name in self.request.POST
            if name.startswith("seed-")
        }
        organising.set_seeds(self.acting(), tournament, seeds)
        return _("The seeds are stored.")


def read_seed(bot: str, text: str) -> int | None:
    """Return a seed from a field; None if the field is empty. Raises BadFields."""
    if not text.strip():
        return None
    seed = as_number(text.strip())
    if not isinstance(seed, int) or not 1 <= seed <= organising.MAX_SEED:
        rule = f"it must be a whole number from 1 to {organising.MAX_SEED}"
        raise BadFields([f"seed of {bot}: {quoted(seed)}; {rule}"])
    return seed
