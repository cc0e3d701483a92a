import './granting.css'
import { Button, Group, Stack } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { readinessOf } from './principals.ts'
import { WaitingReceiver } from './receivers.tsx'
import { useCompleting, type WaitingPerson } from './use-completing.ts'

/**
 * Grants the keys that a team asks for, or all teams and plans. The server lists them, so each person is shown with each
 * environment before a key is wrapped.
 */
export function CompleteDialog({ teamId, onClose }: { teamId?: string; onClose: () => void }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const completing = useCompleting({ orgId: org.id, ownId: me.user?.id ?? '' }, teamId, onClose)
  const { missing, people, wanted, pending, progress, problems, queryError, hasMore } = completing
  const close = () => pending || onClose()
  const submit = wanted.length === 1 ? 'Grant 1 key' : `Grant ${wanted.length} keys`
  return (
    <Dialog opened onClose={close} title="Grant the keys that wait" size={640} closeOnClickOutside={false}>
      <Form onSubmit={() => completing.isReady && completing.run(wanted)}>
        <Stack>
          <Loaded query={missing}>{() => <People people={people} />}</Loaded>
          {hasMore && <p className="help">These are the first 1,000 keys. Open this again for the rest.</p>}
          <ProblemAlert error={queryError ?? completing.error} />
          {problems.length > 0 && (
            <ul className="granting-problems" role="alert">
              {problems.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          )}
          <Group justify="flex-end">
            <Button variant="default" disabled={pending} onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!completing.isReady || pending}>
              {progress ? `${progress.done} of ${progress.all}` : submit}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  )
}

function People({ people }: { people: readonly WaitingPerson[] }) {
  if (people.length === 0) return <p>No key is missing.</p>
  return (
    <ul className="completing">
      {people.map((one) => (
        <Person key={one.receiver.principalId} person={one} />
      ))}
    </ul>
  )
}

function Person({ person: { receiver, ready, names, unheld, heldForTime, hasTwoKeys } }: { person: WaitingPerson }) {
  const { label } = receiver
  return (
    <>
      {ready.length > 0 ? (
        <li>
          <b>{label}</b> gets {names.join(', ')}
        </li>
      ) : (
        names.length > 0 &&
        readinessOf(receiver) !== 'ready' && <WaitingReceiver receiver={receiver} waitsFor={names} />
      )}
      {hasTwoKeys && (
        <li className="completing-problem" role="alert">
          <b>{label}</b>: the server shows two keys, so no key is granted. Tell the operator of this server.
        </li>
      )}
      {unheld.length > 0 && (
        <li className="help">
          <b>{label}</b> waits for someone who holds the key of {unheld.join(', ')}
          {heldForTime.length > 0 && `. You hold the key of ${heldForTime.join(', ')} only for a time.`}
        </li>
      )}
    </>
  )
}
