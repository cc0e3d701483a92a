import { Button, Table, Text, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api.ts'
import { makePasskey } from '../passkeys.ts'
import { secondFactorQuery } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { signInPasskeysQuery } from './queries.ts'

export function SignInPasskeys() {
  const query = useQuery(signInPasskeysQuery)
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<{ id: string; label: string } | null>(null)
  const reload = useReload()
  return (
    <Section
      title="Passkeys to sign in"
      description="Each signs you in by itself and counts as second factor."
      actions={
        <Button variant="default" onClick={() => setAdding(true)}>
          Add a passkey
        </Button>
      }
    >
      <Loaded query={query}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <Text size="sm" c="dimmed">
              None yet. A passkey that is added to the keyring can sign you in, too.
            </Text>
          ) : (
            <div className="rows">
              <Table>
                <Table.Tbody>
                  {passkeys.map(({ id, label, lastUsedAt }) => (
                    <Table.Tr key={id}>
                      <Table.Td fw={500}>{label}</Table.Td>
                      <Table.Td c="dimmed">
                        last used <RelativeTime at={lastUsedAt} />
                      </Table.Td>
                      <Table.Td ta="right">
                        <Button
                          variant="subtle"
                          color="red"
                          size="xs"
                          aria-label={`Remove ${label}`}
                          onClick={() => setRemoving({ id, label })}
                        >
                          Remove
                        </Button>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </div>
          )
        }
      </Loaded>
      {adding && <AddPasskey onClose={() => setAdding(false)} />}
      <ConfirmDelete
        title="Remove this passkey?"
        confirm="Remove"
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        onConfirm={async () => {
          await api.signInPasskeys.delete({ params: { signInPasskeyId: removing?.id ?? '' } })
          await reload()
        }}
      >
        {removing?.label} no longer signs you in. If it also unlocks your keyring, that stays: it is listed under
        Keyring.
      </ConfirmDelete>
    </Section>
  )
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const [label, setLabel] = useState('')
  const reload = useReload()
  const add = async () => {
    const challenge = await api.signInPasskeys.options()
    const { response } = await makePasskey(challenge)
    const { challengeId } = challenge
    await api.signInPasskeys.create({ body: { challengeId, label: label.trim(), response } })
    await reload()
  }
  return (
    <FormDialog title="Add a passkey to sign in" submit="Continue" opened onClose={onClose} onSubmit={add}>
      <TextInput
        label="Name"
        placeholder="Laptop"
        required
        value={label}
        onChange={(event) => setLabel(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  )
}

function useReload() {
  const queryClient = useQueryClient()
  return async () => {
    await queryClient.invalidateQueries(signInPasskeysQuery)
    await queryClient.invalidateQueries(secondFactorQuery)
  }
}
