"""The list of matches over REST, which knows matches and tournaments."""

from rest_framework.generics import ListAPIView
from rest_framework.request import Request

from ladder.common.filters import NamedRowFilter
from ladder.games import visibility as games
from ladder.games.filters import MatchFilter, match_order
from ladder.games.models import Match
from ladder.games.serializers import MatchSerializer
from ladder.tournaments import visibility


class TournamentMatchFilter(MatchFilter):
    """The parameters of the list of matches. Unannounced tournaments do not exist."""

    tournament = NamedRowFilter(
        queryset=visibility.tournaments(),
        to_field_name="slug",
        field_name="fixture__tournament",
    )


class MatchList(ListAPIView[Match]):
    """The matches, newest first, and why each was made.

    `from` and `to` are about the time at which a match was made.
    """

    queryset = games.matches()
    serializer_class = MatchSerializer
    filterset_class = TournamentMatchFilter

    def order(self, request: Request) -> tuple[str, ...]:
        """Return the columns by which the pages are ordered."""
        return match_order(request.query_params)
