import { Button, Checkbox, Table, Text, TextInput } from '@mantine/core'
import { IconFingerprint } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { makePasskey, prfOfNew, randomBase64url } from '../passkeys.ts'
import { passkeysQuery, secondFactorQuery } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { signInPasskeysQuery } from './queries.ts'

/** Passkeys whose PRF opens the keyring, so that the passphrase is seldom needed. */
export function KeyringPasskeys({ userId }: { userId: string }) {
  const query = useQuery(passkeysQuery)
  const queryClient = useQueryClient()
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<{ id: string; label: string } | null>(null)
  const count = query.data?.passkeys.length ?? 0
  return (
    <Section
      title="Passkeys"
      description="A passkey of this device, a phone or a security key unlocks the keyring with a touch."
      actions={
        <Button
          variant={count === 0 ? 'filled' : 'default'}
          leftSection={<IconFingerprint size={16} />}
          onClick={() => setAdding(true)}
        >
          Add a passkey
        </Button>
      }
    >
      <Loaded query={query}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <Text size="sm" c="dimmed">
              None yet. One is also a second way in, should you forget the passphrase.
            </Text>
          ) : (
            <div className="rows">
              <Table>
                <Table.Tbody>
                  {passkeys.map(({ id, label, createdAt }) => (
                    <Table.Tr key={id}>
                      <Table.Td fw={500}>{label}</Table.Td>
                      <Table.Td c="dimmed">
                        added <RelativeTime at={createdAt} />
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
      {adding && <AddPasskey userId={userId} onClose={() => setAdding(false)} />}
      <ConfirmDelete
        title="Remove this passkey?"
        confirm="Remove"
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        onConfirm={async () => {
          await api.passkeys.delete({ params: { passkeyId: removing?.id ?? '' } })
          await queryClient.invalidateQueries(passkeysQuery)
        }}
      >
        {removing?.label} no longer unlocks your keyring. If it also signs you in, that stays: it is listed under
        Signing in.
      </ConfirmDelete>
    </Section>
  )
}

function AddPasskey({ userId, onClose }: { userId: string; onClose: () => void }) {
  const [label, setLabel] = useState('')
  const [signsIn, setSignsIn] = useState(true)
  const queryClient = useQueryClient()
  const { data: factors } = useQuery(secondFactorQuery)
  const managed = factors?.managed ?? false
  const add = async () => {
    // Unlocked first: the ceremony's result must find the key to seal.
    await keyring.unlock()
    await enroll({ label: label.trim(), userId, signsIn: signsIn && managed })
    for (const query of [passkeysQuery, secondFactorQuery, signInPasskeysQuery])
      await queryClient.invalidateQueries({ queryKey: query.queryKey })
  }
  return (
    <FormDialog title="Add a passkey" submit="Continue" opened onClose={onClose} onSubmit={add}>
      <TextInput
        label="Name"
        placeholder="Laptop"
        required
        value={label}
        onChange={(event) => setLabel(event.currentTarget.value)}
        data-autofocus
      />
      {managed && (
        <Checkbox
          label="Sign in with it, too"
          description="It then counts as a second factor."
          checked={signsIn}
          onChange={(event) => setSignsIn(event.currentTarget.checked)}
        />
      )}
    </FormDialog>
  )
}

/** One ceremony for both: the signature enrolls it for signing in, the PRF's output seals the key. */
async function enroll({ label, userId, signsIn }: { label: string; userId: string; signsIn: boolean }) {
  const prfInput = randomBase64url()
  const challenge = await api.signInPasskeys.options()
  const made = await makePasskey(challenge, prfInput)
  const { credentialId } = made
  const prfOutput = made.prfOutput ?? (await prfOfNew(credentialId, prfInput)).prfOutput
  const encryptedPrivateKey = await keyring.call('sealForPasskey', { prfOutput, userId, credentialId })
  if (signsIn) {
    const { challengeId } = challenge
    await api.signInPasskeys.create({ body: { challengeId, label, response: made.response } })
  }
  await api.passkeys.create({ body: { credentialId, label, prfInput, encryptedPrivateKey } })
}
