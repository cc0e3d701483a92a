import { useState } from 'preact/hooks'
import type { Flow } from '../flow.ts'
import type { Connection, ManageSession } from '../server.ts'
import { Heading, Told, useAction } from './parts.tsx'
import { dayOf } from './words.ts'

const states: Record<Connection['status'], string> = {
  active: 'Connected',
  reauth_required: 'Needs to be connected again',
  revoked: 'Disconnected',
}

/** Shows the accounts that the person has connected, without those that are already disconnected. */
export function Manage({ session, flow }: { session: ManageSession; flow: Flow }) {
  const { display, connections, returnUrl } = session
  const [told, tell] = useState<string | null>(null)
  const live = connections.filter(({ status }) => status !== 'revoked')
  return (
    <>
      <Heading>Your connected accounts</Heading>
      <p>
        These are the accounts that <strong>{display.name}</strong> can use for you.
      </p>
      <Told text={told} kind="notice" />
      {live.length === 0 ? <p class="summary">No account is connected.</p> : null}
      <ul class="connections">
        {live.map((connection) => (
          <Row key={connection.id} connection={connection} product={display.name} flow={flow} tell={tell} />
        ))}
      </ul>
      {returnUrl === null ? (
        <p>You can close this page when you are done.</p>
      ) : (
        <div class="actions">
          <button type="button" class="secondary" onClick={flow.leave}>
            Back to {display.name}
          </button>
        </div>
      )}
    </>
  )
}

interface RowProps {
  connection: Connection
  product: string
  flow: Flow
  tell: (text: string) => void
}

function Row({ connection, product, flow, tell }: RowProps) {
  const { id, providerName, accountLabel, status, consentedAt, lastUsedAt } = connection
  const [isAsking, setAsking] = useState(false)
  const { run, isBusy, problem } = useAction()
  const name = accountLabel === null ? providerName : `${providerName}, ${accountLabel}`
  const revoke = async () => {
    await flow.revoke(id)
    tell(`${name} is disconnected.`)
  }
  return (
    <li>
      <h2>{name}</h2>
      <p class="hint">
        {states[status]}. You agreed on {dayOf(consentedAt)};{' '}
        {lastUsedAt === null ? 'not used yet' : `last used on ${dayOf(lastUsedAt)}`}.
      </p>
      <Told text={problem} />
      {isAsking ? (
        <fieldset>
          <legend>
            Disconnect {name}? {product} can no longer use it, and what was stored is deleted.
          </legend>
          <div class="actions">
            <button type="button" class="danger" disabled={isBusy} onClick={() => run(revoke)}>
              Disconnect
            </button>
            <button type="button" class="plain" onClick={() => setAsking(false)}>
              Keep it
            </button>
          </div>
        </fieldset>
      ) : (
        <button type="button" class="secondary" onClick={() => setAsking(true)} aria-label={`Disconnect ${name}`}>
          Disconnect…
        </button>
      )}
    </li>
  )
}
