"""The pages with which people follow bots, ladders and tournaments, and end that."""

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from ladder.accounts.addresses import BadLink
from ladder.extras.follows import selectors, services
from ladder.extras.follows.models import KINDS, DailyMail, Followable, kind_of
from ladder.extras.follows.news import EVENT_KEYS
from ladder.web.api.pagination import MAX_ID_DIGITS
from ladder.web.destinations import account_url
from ladder.web.pages.account_views import SignedInView
from torres.common.errors import LadderError


class FollowPage(View):
    """The ways to hear of a bot, a ladder or a tournament: `?bot=SLUG`, for example.

    The pages of these lead here, so that they stay the same for all visitors.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        subject = _subject(request)
        is_following = selectors.is_following(request.user, subject)
        mailed = is_following and DailyMail.objects.filter(user=request.user.pk)
        kind = kind_of(subject)
        context = {
            "kind": kind,
            "subject": subject,
            "watch": f"{EVENT_KEYS[type(subject)]} {subject.slug}",
            "page": reverse(f"{kind}-page", args=[subject.slug]),
            "feed": reverse(f"{kind}-feed", args=[subject.slug]),
            "following": is_following,
            "mailed": mailed and mailed.exists(),
            "sends_mail": settings.TORRES_SENDS_MAIL,
        }
        return render(request, "web/follow.html", context)

    def post(self, request: HttpRequest) -> HttpResponse:
        here = request.get_full_path()
        if not isinstance(request.user, User):  # the session has ended meanwhile
            return redirect(account_url(request, "sign-in", here))
        subject = _subject(request)
        if request.POST.get("follow") == "no":
            services.unfollow(request.user, subject)
            return redirect(here)
        try:
            services.follow(request.user, subject)
        except LadderError as refusal:
            messages.error(request, str(refusal))
        return redirect(here)


def _subject(request: HttpRequest) -> Followable:
    for kind in KINDS:
        subject = selectors.find(kind, request.GET.get(kind, ""))
        if subject is not None:
            return subject
    raise Http404


class FollowsPage(SignedInView):
    """The own follows, and the daily mail. POST changes them."""

    def get(self, request: HttpRequest) -> HttpResponse:
        person = self.person()
        context = {
            "follows": selectors.follows_of(person),
            "mailed": DailyMail.objects.filter(user=person).exists(),
            "sends_mail": settings.TORRES_SENDS_MAIL,
        }
        return render(request, "web/follows.html", context)

    def post(self, request: HttpRequest) -> HttpResponse:
        number = request.POST.get("end", "")
        mail = request.POST.get("mail", "")
        if number.isascii() and number.isdigit() and len(number) <= MAX_ID_DIGITS:
            services.end(self.person(), int(number))
        elif mail == "yes" and settings.TORRES_SENDS_MAIL:
            services.start_daily_mail(self.person(), request.build_absolute_uri("/"))
            messages.success(request, _("You get a mail on days with news."))
        elif mail == "no":
            services.end_daily_mail(self.person())
        return redirect("follows")


@method_decorator(csrf_exempt, "dispatch")
class UnsubscribePage(View):
    """Ends the daily mail with the link of a mail, without an account.

    Programs for mail send a POST by themselves if a person asks for that (RFC 8058),
    without cookies. A GET only shows a button, because scanners open all links.
    """

    scope = "read"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(request, services.check_key)

    def post(self, request: HttpRequest) -> HttpResponse:
        return self._page(request, services.unsubscribe, ended=True)

    def _page(
        self, request: HttpRequest, act: Callable[[str], object], **context: object
    ) -> HttpResponse:
        key = request.GET.get("key", "")
        try:
            act(key)
        except BadLink as refusal:
            context = {"refusal": str(refusal)}
            return render(request, "web/unsubscribe.html", context, status=422)
        return render(request, "web/unsubscribe.html", context | {"key": key})
