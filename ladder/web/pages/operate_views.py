"""The pages on which operators act, made from the table of acts."""

from http import HTTPStatus
from itertools import groupby
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.utils.translation import gettext as _, gettext_noop

from ladder.accounts import sessions
from ladder.common.stored_texts import translated
from ladder.extras.anomalies import selectors
from ladder.extras.anomalies.explained import explain
from ladder.moderation import declaration
from ladder.moderation.audit import Operator
from ladder.moderation.models import MAX_WHY_LENGTH, AuditEntry
from ladder.web.api.act_views import sentence_of
from ladder.web.pages.account_views import OperatorView
from torres.common.errors import BadFields, LadderError

MAX_ENTRIES = 20


class ActForm(forms.Form):
    """The target of an act, its arguments, and the reason."""

    def __init__(self, act: declaration.Act, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.act = act
        self.fields["target"] = forms.CharField(
            max_length=declaration.MAX_TARGET_LENGTH,
            label=capfirst(_(act.target.word)),
            help_text=_(sentence_of(act.target.help)),
            widget=forms.TextInput(attrs={"autocomplete": "off"}),
        )
        for argument in act.arguments:
            self.fields[argument.name] = _field(argument)
        self.fields["why"] = forms.CharField(
            max_length=MAX_WHY_LENGTH,
            label=_("Reason"),
            help_text=_("For the audit log."),
        )

    def values(self) -> dict[str, Any]:
        """Return the arguments that were given."""
        given = {each.name: self.cleaned_data[each.name] for each in self.act.arguments}
        return {name: value for name, value in given.items() if value not in ("", None)}

    def show(self, refusal: LadderError) -> None:
        """Show why the act was refused; mistakes in a document at their field."""
        if isinstance(refusal, BadFields) and "document" in self.fields:
            texts = [
                f"{each.field}: {translated(each.detail)}" for each in refusal.problems
            ]
            self.add_error("document", texts)
        else:
            self.add_error(None, ValidationError(translated(str(refusal))))


class DocumentField(forms.JSONField):
    """A JSON object."""

    def to_python(self, value: Any) -> Any:
        try:
            document = super().to_python(value)
        except (ValueError, RecursionError) as error:  # more digits than Python reads
            raise ValidationError(_("This is no JSON that can be read.")) from error
        if document is not None and not isinstance(document, dict):
            raise ValidationError(_("It must be a JSON object with the keys."))
        return document

    def bound_data(self, data: Any, initial: Any) -> Any:
        return forms.fields.InvalidJSONInput(data)

    def prepare_value(self, value: Any) -> Any:
        return value


def _field(argument: declaration.Argument) -> forms.Field:
    said: dict[str, Any] = {
        "required": argument.required,
        "label": _(argument.name.capitalize()),
        "help_text": _(sentence_of(argument.help)),
    }
    match argument.kind:
        case declaration.ArgumentKind.NUMBER:
            digits = forms.TextInput(attrs={"inputmode": "numeric"})
            return forms.IntegerField(
                min_value=argument.least,
                max_value=argument.most,
                widget=digits,
                **said,
            )
        case declaration.ArgumentKind.DOCUMENT:
            area = forms.Textarea(
                attrs={"rows": 8, "spellcheck": "false", "maxlength": argument.most}
            )
            return DocumentField(widget=area, **said)
        case declaration.ArgumentKind.SLUG:
            return forms.SlugField(max_length=argument.most, **said)
        case declaration.ArgumentKind.TEXT:
            return forms.CharField(max_length=argument.most, **said)


class OperatePage(OperatorView):
    """The acts by the kind of their targets, and the last entries of the audit log."""

    def get(self, request: HttpRequest) -> HttpResponse:
        acts = sorted(declaration.table().values(), key=lambda act: act.target.word)
        groups = groupby(acts, key=lambda act: act.target.word)
        context = {
            "groups": [(word, list(group)) for word, group in groups],
            "entries": AuditEntry.objects.select_related("by")[:MAX_ENTRIES],
        }
        return render(request, "web/operate.html", context)


class ActPage(OperatorView):
    """The form of one act. A query `target` fills in the row."""

    def get(self, request: HttpRequest, act: str) -> HttpResponse:
        target = request.GET.get("target", "")[: declaration.MAX_TARGET_LENGTH]
        return self.page(ActForm(self.act(act), initial={"target": target}))

    def post(self, request: HttpRequest, act: str) -> HttpResponse:
        form = ActForm(self.act(act), request.POST)
        if not form.is_valid():
            return self.page(form, HTTPStatus.UNPROCESSABLE_ENTITY)
        operator = Operator(self.person(), form.cleaned_data["why"])
        try:
            done = declaration.perform(
                operator,
                form.act,
                form.cleaned_data["target"],
                form.values(),
                by_token=sessions.is_by_token(request),
            )
        except LadderError as refusal:
            form.show(refusal)
            return self.page(form, refusal.http_status)
        messages.success(request, _("Done: %(entry)s.") % {"entry": done.entry})
        if done.shown_once:
            text = _("It is shown only once, so copy it now: %(secret)s")
            messages.success(request, text % {"secret": done.shown_once})
        return redirect("operate")

    def act(self, name: str) -> declaration.Act:
        if act := declaration.table().get(name):
            return act
        raise Http404

    def page(self, form: ActForm, status: int = HTTPStatus.OK) -> HttpResponse:
        context = {"form": form, "act": form.act}
        return render(self.request, "web/operate-act.html", context, status=status)


class AnomaliesPage(OperatorView):
    """The newest report of each ladder, for operators only."""

    refusal = gettext_noop(
        "Only operators of this service read reports of anomalies. Ask one of them if"
        " you suspect something."
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        reports = [explain(report) for report in selectors.latest_reports()]
        return render(request, "web/anomalies.html", {"reports": reports})
