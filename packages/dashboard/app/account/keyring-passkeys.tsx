import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { makePasskey, prfOfNew, randomBase64url, unlockingOnly } from '../passkeys.ts'
import { passkeysQuery, queryClient, secondFactorQuery } from '../queries.ts'
import { Loaded } from '../ui/loaded.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { AddPasskey, PasskeyList } from './passkey-list.tsx'

interface Person {
  userId: string
  email: string
}

/** The passkeys that unlock the keyring with their PRF, so that the passphrase is seldom needed. */
export function KeyringPasskeys(person: Person) {
  return (
    <PasskeyList
      title="Passkeys"
      description="A passkey of this device, a phone or a security key unlocks the keyring with a touch."
      query={useQuery(passkeysQuery)}
      none="No passkey yet. A passkey also opens the keyring if you forget the passphrase."
      time={timeColumn('Added', 'createdAt', 150)}
      remove={(passkeyId) => api.passkeys.delete({ params: { passkeyId } })}
      removing="no longer unlocks your keyring. If it also signs you in, it still does: you find it under Signing in."
      adding={(onClose) => <Add person={person} onClose={onClose} />}
    />
  )
}

function Add({ person, onClose }: { person: Person; onClose: () => void }) {
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
