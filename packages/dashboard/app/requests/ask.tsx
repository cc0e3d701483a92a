import './requests.css'
import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { GrantSpan } from '../envs/grant-span.tsx'
import { EnvName } from '../ui/env-name.tsx'
import { Form } from '../ui/form.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { openRequestsQuery, ownersQuery, requestQueries } from './queries.ts'

const told = 'The admins were told. The page shows the values as soon as an admin grants you the key.'

/** A request for access: which environments, and why. */
function useAsk(orgId: string, first: readonly string[]) {
  const [chosen, setChosen] = useState<readonly string[]>(first)
  const [reason, setReason] = useState('')
  const [seconds, setSeconds] = useState<number | null>(null)
  const send = () => {
    const text = reason.trim()
    const body = {
      environmentIds: [...chosen],
      ...(text === '' ? {} : { reason: text }),
      ...(seconds === null ? {} : { forSeconds: seconds }),
    }
    return api.accessRequests.create({ params: { orgId }, body })
  }
  const count = chosen.length
  const submit = count === 0 ? 'Ask for access' : `Ask for ${count} ${count === 1 ? 'environment' : 'environments'}`
  return { orgId, chosen, setChosen, reason, setReason, seconds, setSeconds, send, submit, isReady: count > 0 }
}

/** The fields to ask for environments, on a page. */
export function AskForm({ orgId }: { orgId: string }) {
  const ask = useAsk(orgId, [])
  const action = useAction(ask.send, { stale: [requestQueries(orgId)], done: () => showToast(told) })
  return (
    <Form onSubmit={() => action.run()}>
      <Stack>
        <AskFields ask={ask} />
        <ProblemAlert error={action.error} />
        <Group>
          <Button type="submit" loading={action.pending} disabled={!ask.isReady}>
            {ask.submit}
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}

/** The same in a dialog. `first` are the environments that are ticked when it opens. */
export function AskDialog(props: { orgId: string; first?: readonly string[]; onClose: () => void }) {
  const { orgId, first = [], onClose } = props
  const ask = useAsk(orgId, first)
  const send = async () => {
    await ask.send()
    showToast(told)
  }
  return (
    <FormDialog
      title="Ask for access"
      submit={ask.submit}
      onClose={onClose}
      onSubmit={send}
      stale={[requestQueries(orgId)]}
      disabled={!ask.isReady}
      size="lg"
    >
      <AskFields ask={ask} />
    </FormDialog>
  )
}

function AskFields({ ask }: { ask: ReturnType<typeof useAsk> }) {
  const { orgId, chosen, setChosen, reason, setReason, seconds, setSeconds } = ask
  const owners = useQuery(ownersQuery(orgId))
  const open = useQuery(openRequestsQuery(orgId)).data?.requests ?? []
  const asked = new Set(open.flatMap(({ environments }) => environments.map(({ environmentId }) => environmentId)))
  const toggle = (id: string, isChosen: boolean) =>
    setChosen(isChosen ? [...chosen, id] : chosen.filter((other) => other !== id))
  return (
    <>
      <Loaded query={owners}>
        {(all) => (
          <div className="ask">
            {all
              .filter(({ environments }) => environments.length > 0)
              .map(({ id, name, environments }) => (
                // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a row of a grid
                <div key={id} role="group" aria-label={name} className="ask-row">
                  <strong>{name}</strong>
                  <div className="ask-environments">
                    {environments.map((one) => (
                      <Checkbox
                        key={one.id}
                        aria-label={`${one.name} of ${name}`}
                        label={
                          <>
                            <EnvName name={one.name} slug={one.slug} />
                            {one.canDecrypt ? ' you can read it' : asked.has(one.id) ? ' asked' : ''}
                          </>
                        }
                        checked={one.canDecrypt || asked.has(one.id) || chosen.includes(one.id)}
                        disabled={one.canDecrypt || asked.has(one.id)}
                        onChange={(event) => toggle(one.id, event.currentTarget.checked)}
                      />
                    ))}
                  </div>
                </div>
              ))}
            {all.every(({ environments }) => environments.length === 0) && (
              <Text size="sm" c="dimmed">
                There is no environment yet. An admin creates the first one.
              </Text>
            )}
          </div>
        )}
      </Loaded>
      <TextInput
        label="Reason"
        description="Optional. The admins and the audit log show it, and the server can read it."
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        autoComplete="off"
      />
      <GrantSpan label="For how long" value={seconds} onChange={setSeconds} />
    </>
  )
}
