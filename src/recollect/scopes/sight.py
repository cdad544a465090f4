"""What a principal may see and where it may write."""

from dataclasses import dataclass

from recollect.database import Session
from recollect.errors import Denied
from recollect.scopes.principal import Principal
from recollect.scopes.store import HOUSE, ScopeStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Valid inside the session it was made in: the next one may see another tree."""

    scopes: tuple[str, ...] | None = None
    """Nearest first. None: all of them."""
    writable: frozenset[str] | None = None
    """None: all of them."""

    def condition(self, column: str) -> str:
        """SQL that follows a WHERE and its other conditions, for the column that holds a thing's scope."""
        if self.scopes is None:
            return ""
        names = ", ".join(f"'{scope}'" for scope in self.scopes)
        return f" AND {column} IN ({names})"

    def sees(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes

    def check_write(self, scope: str, who: str) -> None:
        if self.writable is not None and not self.writable:
            raise Denied(f"{who or 'Who asks'} may only read here. A token without --read-only may write.")
        if self.writable is not None and scope not in self.writable:
            refusal = f"{who} may not write in {scope!r}. It may write in {', '.join(sorted(self.writable))}"
            # Only what is above it can be granted.
            more = f"; a person can allow more: recollect agents grant {who} {scope}" if self.sees(scope) else "."
            raise Denied(f"{refusal}{more}")


EVERYTHING = Sight()
READING = Sight(writable=frozenset())


def sight_of(session: Session, house: str, principal: Principal) -> Sight:
    if not principal.is_confined:
        return EVERYTHING if principal.may_write else READING
    store = ScopeStore(session, house)
    chain = store.chain(principal.scope)
    if not principal.may_write:
        return Sight(scopes=tuple(chain), writable=frozenset())
    granted = store.granted([scope for scope in chain if scope != HOUSE])
    return Sight(scopes=tuple(chain), writable=frozenset({principal.scope} | (granted & set(chain))))
