/** Every mail about an event: whether it is sent unless a person says otherwise, and when. */
export const notificationTypes = {
  invitation: { byDefault: true, when: 'you are invited to an organization' },
  change_request_opened: { byDefault: true, when: 'a change waits for your review' },
  change_request_decided: { byDefault: true, when: 'a change that you proposed is applied, rejected or superseded' },
  honey_token_tripped: { byDefault: true, when: 'someone presents a decoy of an organization that you administer' },
  rotation_failed: { byDefault: true, when: 'a rotation fails in an organization that you administer' },
  sync_failed: { byDefault: true, when: 'a sync fails in an organization that you administer' },
  cli_session_approved: { byDefault: true, when: 'a CLI session is approved in your name' },
  recovery_opened: { byDefault: true, when: 'a recovery is opened in an organization that you administer' },
} as const

export type NotificationType = keyof typeof notificationTypes
