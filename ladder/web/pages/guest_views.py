"""The page of visitors who may play without an account, and the button on it.

The page of visitors is shared (`SharedAnswers`), because many may come at once. So its
form has no CSRF token: browsers say in another way where a form comes from.
"""

from urllib.parse import urlencode

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from engine.position_text import MAX_CHARS
from ladder.common import rate_limits
from ladder.extras.practice import guests, selectors
from ladder.extras.practice.selectors import Guest
from ladder.web.pages import guest_cookie
from torres.common.errors import LadderError

REFUSED, FULL = "refused", "guests-full"
"""The query of the page to which a guest comes back for whom there was no room."""
FOREIGN = (
    "Another site sent this form, so no game was begun. Use the form on this page."
)


def visitors_page(
    request: HttpRequest, refusal: str = "", status: int = 200
) -> HttpResponse:
    """Show what a visitor may do, and the games of a guest."""
    try:
        guest = guest_cookie.guest_of(request)
    except LadderError as error:
        guest, refusal = None, refusal or str(error)
    if not refusal and request.GET.get(REFUSED) == FULL:
        refusal = guests.FULL
    context = {
        "visitor": True,
        "start": (request.POST or request.GET).get("start", ""),
        "open": selectors.open_game(guest) if guest else None,
        "latest": selectors.games_of(guest)[: selectors.MAX_GAMES_SHOWN]
        if guest
        else [],
        "refusal": refusal,
    }
    return render(request, "web/play.html", context, status=status)


@method_decorator(csrf_exempt, "dispatch")
class GuestGameAction(View):
    """Begin a game without an account.

    A form of another site could take a guest's cookie away, and so the games. If there
    is no room, the guest comes back to a page that is shared, too.
    """

    def post(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            return redirect("play")
        if not _is_from_here(request):
            return visitors_page(request, FOREIGN, 403)
        start = request.POST.get("start", "")
        if caches["pages"].get(FULL):
            return _back(start)
        try:
            player = _known_guest(request) or guests.new_guest()
            game = guests.begin(player, rate_limits.address(request), start)
        except guests.NoRoom:
            # For as long as a page is shared, others are refused without a query.
            caches["pages"].set(FULL, True, settings.TORRES_FRESH_SECONDS)
            return _back(start)
        except LadderError as error:
            return visitors_page(request, str(error), 422)
        response = redirect("practice", game.pk)
        guest_cookie.remember(response, player)
        return response


def _back(start: str) -> HttpResponse:
    """Lead a guest for whom there is no room to the page that says so.

    A position whose text is too long is left out, because it would be refused there.
    """
    is_kept = 0 < len(start) <= MAX_CHARS
    query = {REFUSED: FULL} | ({"start": start} if is_kept else {})
    return redirect(f"{reverse('play')}?{urlencode(query)}")


def _known_guest(request: HttpRequest) -> Guest | None:
    """Return the guest of the cookie; None without one, or with one that is refused."""
    try:
        return guest_cookie.guest_of(request)
    except guest_cookie.BadGuestCookie:
        return None


def _is_from_here(request: HttpRequest) -> bool:
    """True unless a browser says that a page of another site sent the request.

    Browsers send `Sec-Fetch-Site`, or at least `Origin`; other programs send neither.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in ("same-origin", "none")
    host = request.get_host()
    here = (None, f"https://{host}", f"http://{host}")
    return request.headers.get("Origin") in here
