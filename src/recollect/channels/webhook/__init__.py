"""The webhook: signed messages in and out, by which any other service can be bound (docs/channels/webhook.md)."""
