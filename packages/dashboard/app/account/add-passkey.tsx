import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api } from '../api.ts'
import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { keyring } from '../keyring.ts'
import { makePasskey, prfOfNew, randomBase64url, unlockingOnly } from '../passkeys.ts'
import { passkeysQuery, queryClient, secondFactorQuery } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { passkeyQueries } from './queries.ts'

export interface Person {
  userId: string
  email: string
}

/** Adds a passkey that unlocks the keyring. If the person wants, it also signs in. */
export function AddKeyringPasskey({ person, onClose }: { person: Person; onClose: () => void }) {
  const [signsIn, setSignsIn] = useState(true)
  const factors = useQuery(secondFactorQuery)
  const add = async (label: string) => {
    const { managed } = await queryClient.ensureQueryData(secondFactorQuery)
    // The keyring is unlocked first, because the passkey's PRF output then seals the private key.
    await keyring.unlock()
    await (signsIn && managed ? enrollForBoth : enrollToUnlock)(label, person)
  }
  return (
    <AddPasskey title="Add a passkey" onClose={onClose} add={add}>
      <Loaded query={factors}>
        {({ managed }) =>
          managed && (
            <Checkbox
              label="Also sign in with it"
              description="The passkey then also counts as a second factor."
              checked={signsIn}
              onChange={(event) => setSignsIn(event.currentTarget.checked)}
            />
          )
        }
      </Loaded>
    </AddPasskey>
  )
}

/** Adds a passkey that signs in. */
export function AddSignInPasskey({ onClose }: { onClose: () => void }) {
  return <AddPasskey title="Add a passkey to sign in" onClose={onClose} add={enrollToSignIn} />
}

/** Asks for the name of a new passkey, then calls `add`, which creates it on the device. */
function AddPasskey(props: {
  title: string
  onClose: () => void
  add: (label: string) => Promise<unknown>
  children?: ReactNode
}) {
  const { title, onClose, add, children } = props
  const form = useApiForm('passkeys', 'create', { label: '' })
  return (
    <FormDialog
      title={title}
      submit="Continue"
      form={form}
      onClose={onClose}
      onSubmit={({ label }) => add(label)}
      stale={passkeyQueries}
    >
      <NameField placeholder="Laptop" {...form.getInputProps('label')} />
      {children}
    </FormDialog>
  )
}

async function enrollToSignIn(label: string) {
  const challenge = await api.signInPasskeys.options()
  const { response } = await makePasskey(challenge)
  const { challengeId } = challenge
  await api.signInPasskeys.create({ body: { challengeId, label, response } })
}

/**
 * Creates a passkey and seals the private key under its PRF's output. Returns the sealed key with the credential ID,
 * and the device's response.
 */
async function sealUnder(challenge: Parameters<typeof makePasskey>[0], userId: string) {
  const prfInput = randomBase64url()
  const made = await makePasskey(challenge, prfInput)
  const { credentialId, response } = made
  const prfOutput = made.prfOutput ?? (await prfOfNew(credentialId, prfInput)).prfOutput
  const encryptedPrivateKey = await keyring.call('sealForPasskey', { prfOutput, userId, credentialId })
  return { sealed: { credentialId, prfInput, encryptedPrivateKey }, response }
}

async function enrollToUnlock(label: string, { userId, email }: Person) {
  const { passkeys } = await queryClient.ensureQueryData(passkeysQuery)
  const { sealed } = await sealUnder(unlockingOnly(email, passkeys), userId)
  await api.passkeys.create({ body: { label, ...sealed } })
}

/**
 * Creates one passkey for both uses: its signature enrolls it for sign-in, and its PRF's output seals the private key.
 */
async function enrollForBoth(label: string, { userId }: Person) {
  const challenge = await api.signInPasskeys.options()
  const { sealed, response } = await sealUnder(challenge, userId)
  await api.signInPasskeys.create({ body: { challengeId: challenge.challengeId, label, response } })
  await api.passkeys.create({ body: { label, ...sealed } })
}
