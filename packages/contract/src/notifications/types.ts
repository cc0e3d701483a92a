/** Every type of mail about an event: whether it is sent by default, and when. */
export const notificationTypes = {
  invitation: { byDefault: true, when: 'you are invited to an organization' },
  change_request_opened: { byDefault: true, when: 'a change request waits for your review' },
  change_request_decided: {
    byDefault: true,
    when: 'a change that you proposed is applied, rejected, or can no longer be applied',
  },
  protection_disabled: { byDefault: true, when: 'an environment that you administer is no longer protected' },
  honey_token_tripped: { byDefault: true, when: 'somebody uses a decoy of an organization that you administer' },
  token_exposed: {
    byDefault: true,
    when: 'a program sends the server a whole service token, with its private key, in an organization that you administer',
  },
  keys_replaced: { byDefault: true, when: 'a member of an organization that you administer replaces their key pair' },
  rotation_failed: { byDefault: true, when: 'a rotation fails in an organization that you administer' },
  secret_expiring: {
    byDefault: true,
    when: 'a secret expires, and you are its owner, or it has no owner and you administer its organization',
  },
  sync_failed: { byDefault: true, when: 'a sync fails and an admin must act, in an organization that you administer' },
  lease_orphaned: {
    byDefault: true,
    when: 'Skerry cannot remove the temporary account of an ended lease, in an organization that you administer',
  },
  lease_target_paused: {
    byDefault: true,
    when: 'the server pauses a lease target, because the part of Skerry that connects to the target crashed again and again',
  },
  log_sink_disabled: {
    byDefault: true,
    when: 'a collector refuses the audit log of an organization that you administer',
  },
  vault_webhook_disabled: {
    byDefault: true,
    when: 'the server disables a webhook of the vault in an organization that you administer, because the webhook failed for a long time',
  },
  cli_session_approved: { byDefault: true, when: 'a CLI session is approved in your name' },
  recovery_opened: {
    byDefault: true,
    when: 'a recovery request is opened in an organization that you administer, or for which you hold a recovery share',
  },
  recovery_completed: {
    byDefault: true,
    when: 'a recovery request is completed in an organization that you administer, or for which you hold a recovery share',
  },
  access_requested: { byDefault: true, when: 'a member of an organization that you administer asks for access' },
  offboarding_row_handed: {
    byDefault: true,
    when: 'an admin hands you a task of an offboarding, or reminds you of it',
  },
  access_decided: { byDefault: true, when: 'access that you asked for is granted or declined' },
} as const

export type NotificationType = keyof typeof notificationTypes
