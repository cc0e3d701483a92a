import type { Flow, Notice } from '../flow.ts'
import type { ConnectSession } from '../server.ts'
import { Heading, Told, useAction } from './parts.tsx'
import { hostOf, timeOf } from './words.ts'

const notices: Record<Notice, string> = {
  changed: 'Something has changed since you began. Please read this again.',
  denied: 'You did not agree on the other page, so nothing was connected. You can try again.',
  other_account:
    'You signed in with another account than before, so nothing was changed. Please try again with the account that was connected.',
  failed: 'That did not work, and nothing was connected. You can try again.',
}

export const noticeText = (notice: Notice | null): string | null => notice && notices[notice]

/**
 * Says which product asks, for what, who can decrypt it, and until when. Nothing is captured before the person agrees.
 */
export function Agree({ session, notice, flow }: { session: ConnectSession; notice: Notice | null; flow: Flow }) {
  const { run, isBusy, problem } = useAction()
  const { display, provider, purpose, executorOrigin, expiresAt } = session
  const scopes = provider.scopes ?? []
  const title = purpose === 'reconnect' ? 'Reconnect' : 'Connect'
  return (
    <>
      <Heading>{`${title} your ${provider.displayName} account`}</Heading>
      <Told text={noticeText(notice)} kind="notice" />
      <p>
        <strong>{display.name}</strong> would like to use your {provider.displayName} account.
      </p>
      <p class="summary">{provider.consentSummary}</p>
      {scopes.length > 0 ? (
        <>
          <p>It asks {provider.displayName} for these permissions:</p>
          <ul class="scopes">
            {scopes.map((scope) => (
              <li key={scope}>{scope}</li>
            ))}
          </ul>
        </>
      ) : null}
      <ul class="promises">
        <li>
          Your sign-in details are stored encrypted. Only the service at <strong>{hostOf(executorOrigin ?? '')}</strong>
          , which works for {display.name}, can open them.
        </li>
        <li>You can disconnect the account at any time, through {display.name}.</li>
        <li>This page works until {timeOf(expiresAt)}.</li>
      </ul>
      <Told text={problem} />
      <div class="actions">
        <button type="button" class="primary" disabled={isBusy} onClick={() => run(flow.agree)}>
          Agree and continue
        </button>
        <button type="button" class="plain" onClick={flow.leave}>
          Cancel
        </button>
      </div>
    </>
  )
}
