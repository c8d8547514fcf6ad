"""The reasons why the text of a position is wrong, which pages translate.

`engine.position_text`, `position_check` and `rulesets` raise them in English, with the
values in them. `stored_texts` finds the text of such a sentence.
"""

from django.utils.translation import gettext_noop as _

MISTAKES = (
    _("it is missing or has the wrong type; see docs/contract.md, section 8"),
    _("its number of entries is %(count)s; write %(wanted)s"),
    _("a row has %(count)s numbers; write as many"),
    _("it is %(value)s; write 1 to %(most)s, or 0 for the set-up"),
    _("it is %(value)s; in phase %(phase)s write %(least)s to %(most)s"),
    _("it is %(value)s; in phase %(phase)s write %(wanted)s"),
    _("name each seat once, beginning with the first one"),
    _("the seats play clockwise here; write %(seats)s"),
    _("the order begins with seat %(seat)s; write it"),
    _("%(decision)s belongs to a seat; write one of %(seats)s"),
    _("it is unknown; write one of %(names)s"),
    _("these rules have no decision %(decision)s; write another one"),
    _("%(decision)s belongs to phase %(phases)s; change it or the phase"),
    _("%(decision)s belongs to round %(round)s; write this round"),
    _("%(decision)s is outside of a turn; leave it out"),
    _("it is %(value)s; write %(least)s to %(most)s"),
    _("%(spent)s of %(most)s were spent on purchases and blocks; write less"),
    _("keep follows a purchase; write at least 1"),
    _("here seat %(seat)s decides (%(decision)s); name this seat"),
    _("here nobody decides (%(decision)s); leave it out"),
    _("seat %(seat)s has %(count)s; leave at most %(most)s"),
    _("seat %(seat)s has %(count)s of %(most)s knights on the board; write %(wanted)s"),
    _("%(space)s is no space; write a1 to h8"),
    _("%(space)s has %(piece)s and %(another)s; move one of them"),
    _("a knight of seat %(seat)s"),
    _("the king"),
    _("seat %(seat)s has none; add at least one"),
    _("he is on no castle; put him on a space with a block"),
    _("he enters at the end of the set-up; leave him out"),
    _("seat %(seat)s has %(count)s; at this point put %(wanted)s"),
    _("%(space)s has no block; put the first knight on a start block"),
    _("%(space)s is negative; write 0"),
    _(
        "%(space)s has %(height)s, and the area of its castle is %(area)s; lower it,"
        " because no tower is higher than that"
    ),
    _(
        "it has %(count)s blocks; for %(decision)s in the set-up put less than"
        " %(wanted)s"
    ),
    _("it has %(count)s blocks; for %(decision)s in the set-up put %(wanted)s"),
    _(
        "%(space)s and %(other)s are less than %(steps)s steps apart; move one of"
        " these start blocks"
    ),
    _("it is %(value)s; write 0 or more"),
    _(
        "seat %(seat)s has %(count)s of %(left)s stacks that are left; write"
        " %(wanted)s sizes"
    ),
    _("seat %(seat)s has a negative size; write 0"),
    _(
        "the stacks of seat %(seat)s are smaller than the ones dealt to it; add"
        " %(missing)s"
    ),
    _("the seat has its stack of this turn; write the blocks left on it"),
    _("seat %(seat)s has %(count)s; write 0 or more"),
    _("seat %(seat)s cannot carry blocks over here; write 0"),
    _("stock distributes carried blocks; write some"),
    _("seat %(seat)s has %(count)s blocks, and %(dealt)s were dealt; take some off"),
    _("seat %(seat)s has no choice with %(count)s; put them on its stacks"),
    _("seat %(seat)s has no legal action; make room on the board"),
    _("there are %(all)s blocks, and %(count)s are elsewhere; write %(wanted)s"),
    _("there are %(all)s blocks, and %(count)s are elsewhere; take some away"),
    _(
        "%(count)s of %(all)s blocks are on the board and the stacks, and %(due)s are"
        " still needed; take %(missing)s blocks away"
    ),
    _("seat %(seat)s has %(score)s; write 0 to %(most)s"),
    _("nobody has points in the set-up; write 0"),
    _("two seats have %(score)s points; change one (only 0 is shared)"),
    _("they have to be the cards that are not elsewhere; name these"),
    _("these rules decide about it; write one of %(names)s"),
    _("these rules decide about it; leave it out"),
    _("%(card)s is no card; correct it"),
    _("there are too many cards %(card)s; leave one out"),
    _("%(decision)s has no drawn cards; leave them out"),
    _("write %(count)s cards, or fewer of them if the deck is empty"),
    _("name only cards that seat %(seat)s has in its hand"),
    _(
        "it has more cards than the %(count)s that were bought this turn; leave some"
        " out"
    ),
    _("begin it with %(marker)s"),
    _("it has %(count)s characters; write at most %(most)s"),
    _("%(part)s is no field; write NAME=VALUE with a NAME of %(names)s"),
    _("it is there twice; leave one out"),
    _("it is missing; add %(part)s"),
    _("%(part)s is no switch, or it is there twice; name each of %(names)s once"),
    _("%(part)s is no number; write digits, at most %(most)s"),
    _("%(part)s is neither 0 nor 1; write one"),
    _("its number of parts is %(count)s; write %(wanted)s, with / between them"),
    _("its number of rows is %(count)s; write 8 with / between, row 8 first"),
    _(
        "row %(row)s is %(part)s; write 8 characters, a to h, with . or a height for"
        " each"
    ),
    _("%(part)s is no card; write letters of %(names)s"),
    _("unknown ruleset %(name)s; choose one of %(names)s"),
    _("%(value)s seats; choose 2, 3 or 4"),
    _("unknown switch %(name)s; choose one of %(names)s"),
    _("%(name)s is %(value)s; it has to be %(names)s"),
    _("stacks has to be three lists of sizes, one for each phase"),
    _("stacks needs a list of at least one size for each phase"),
    _("stacks has the size %(value)s; sizes are numbers from 1"),
    _("stacks deals %(dealt)s blocks to %(seats)s seats; the supply allows %(most)s"),
)
