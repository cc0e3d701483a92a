import type { Mail } from '../../jobs/mail.ts'

/** Says whom it is from in the organization's own words, so those are kept to one line. */
export function invitationMail(to: string, orgName: string, baseUrl: string, expiresAt: string): Mail {
  return {
    to,
    subject: `You are invited to ${orgName} on Skerry`,
    text: [
      `You are invited to join the organization “${orgName}” on Skerry.`,
      '',
      `Sign in with this address at ${baseUrl} until ${expiresAt.slice(0, 10)} and you are a member.`,
      '',
      'If you did not expect this, do nothing: without your sign-in nothing happens.',
    ].join('\n'),
  }
}
