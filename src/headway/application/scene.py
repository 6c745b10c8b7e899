"""The scene: a session as far as it was loaded, with all that a reply needs beside it."""

from headway.domain.events import Opened
from headway.domain.ids import AttemptId, NodeId, SessionId
from headway.domain.state import SessionState
from headway.domain.tokens import TokenKind, nonce_of, sign
from headway.domain.values import Value
from headway.domain.workflow import Workflow


class Scene(Value):
    """What a reply is rendered from: a session as recorded, and the key that signs its tokens."""

    session: SessionId
    workflow: Workflow
    state: SessionState
    key: bytes
    stood: Opened | None = None  # the node's standing when the attempt ended, if another one now

    def standing(self, node: NodeId) -> Opened:
        """Return the standing of a node as the recorded outcome met it."""
        return self.stood or self.state.nodes[node].opened

    def token(self, kind: TokenKind, attempt: AttemptId) -> str:
        """Return the token of an attempt."""
        return sign(kind, nonce_of(self.session, attempt), self.key)
