import { Alert, MultiSelect, NumberInput, Stack, Text } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { type Candidate, useCandidates } from '../envs/candidates.ts'
import { Fingerprint } from '../envs/fingerprint.tsx'
import { type Checked, pin, useChecked } from '../envs/pins.ts'
import { keyring } from '../keyring.ts'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { isFresh, orgQueries } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { ownKeysOf, recoveryHolder } from './covering.ts'
import type { Recovery } from './queries.ts'

/** Creates a recovery key and gives each custodian a share. With `recovery`, the new key replaces that one. */
export function SetUpDialog({ recovery, onClose }: { recovery: Recovery | null; onClose: () => void }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const members = useCandidates(org.id, []).filter(({ principalType }) => principalType === 'user')
  const places = useQuery(environmentLabelsQuery(org.id))
  const [chosen, setChosen] = useState<string[]>(recovery?.custodians.map(({ userId }) => userId) ?? [])
  const [threshold, setThreshold] = useState<number | string>(recovery?.threshold ?? limits.recoveryThresholdMin)
  const [compared, setCompared] = useState<ReadonlySet<string>>(new Set())
  const custodians = members.filter(({ principalId }) => chosen.includes(principalId))
  const checked = useChecked(custodians)
  const isSelf = ({ principalId }: Candidate) => principalId === me.user?.id
  const isKnown = (one: Candidate, i: number) =>
    isSelf(one) || checked?.[i]?.status === 'verified' || compared.has(one.publicKeyJwk)
  const needed = Number(threshold)
  const isSound = Number.isInteger(needed) && needed >= limits.recoveryThresholdMin && needed <= custodians.length
  const readable = (places.data ?? []).filter(({ canDecrypt }) => canDecrypt !== false).map(({ id }) => id)
  const make = async () => {
    const covered = await makeRecoveryKey(org.id, {
      threshold: needed,
      custodians,
      readable,
      isRotation: recovery !== null,
    })
    custodians.forEach((one, i) => {
      const fingerprint = checked?.[i]?.fingerprint
      if (fingerprint !== undefined && !isSelf(one)) pin(one.principalId, fingerprint)
    })
    showToast(`Any ${needed} of ${custodians.length} custodians can open ${covered} environments.`)
  }
  return (
    <FormDialog
      title={recovery ? 'Rotate the recovery key' : 'Set recovery up'}
      submit={recovery ? 'Make a new key' : 'Make the recovery key'}
      onClose={onClose}
      onSubmit={make}
      stale={[orgQueries(org.id, 'recovery')]}
      disabled={!isSound || !checked || !custodians.every(isKnown) || !isFresh(places)}
      size="lg"
    >
      {recovery && (
        <Alert color="orange" variant="light">
          Open requests are cancelled. Environments that you cannot read are no longer covered until somebody who can
          read them covers them again.
        </Alert>
      )}
      <MultiSelect
        label="Custodians"
        description="Members with a keyring. Each gets a share; one share alone opens nothing."
        searchable
        data={members.map(({ principalId, label }) => ({ value: principalId, label }))}
        value={chosen}
        onChange={setChosen}
        data-autofocus
      />
      <NumberInput
        label="How many of them are needed"
        min={limits.recoveryThresholdMin}
        max={limits.recoverySharesMax}
        allowDecimal={false}
        value={threshold}
        onChange={setThreshold}
        error={custodians.length > 0 && !isSound && `From ${limits.recoveryThresholdMin} to the number of custodians.`}
      />
      {isSound && needed === custodians.length && (
        <Alert color="orange" variant="light">
          All {needed} custodians are needed. If one of them loses their key or leaves, nothing can be recovered. Choose
          one more custodian, or a lower number.
        </Alert>
      )}
      <ProblemAlert error={places.error} retry={() => places.refetch()} />
      <Custodians {...{ custodians, checked, isSelf, compared }} onCompared={setCompared} />
    </FormDialog>
  )
}

function Custodians(props: {
  custodians: Candidate[]
  checked: Checked[] | undefined
  isSelf: (one: Candidate) => boolean
  /** The public keys that the person has compared. */
  compared: ReadonlySet<string>
  onCompared: (compared: ReadonlySet<string>) => void
}) {
  const { custodians, checked, isSelf, compared, onCompared } = props
  const set = ({ publicKeyJwk }: Candidate, isCompared: boolean) => {
    const after = new Set(compared)
    if (isCompared) after.add(publicKeyJwk)
    else after.delete(publicKeyJwk)
    onCompared(after)
  }
  return (
    <Stack>
      {custodians.map((one, i) => (
        <Custodian
          key={one.principalId}
          one={one}
          isSelf={isSelf(one)}
          checked={checked?.[i]}
          compared={compared.has(one.publicKeyJwk)}
          onCompared={(isCompared) => set(one, isCompared)}
        />
      ))}
    </Stack>
  )
}

function Custodian(props: {
  one: Candidate
  isSelf: boolean
  checked: Checked | undefined
  compared: boolean
  onCompared: (yes: boolean) => void
}) {
  const { one, isSelf, checked, compared, onCompared } = props
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {one.label}
      </Text>
      {isSelf && (
        <Text size="xs" c="dimmed">
          You.
        </Text>
      )}
      {!isSelf && checked && (
        <Fingerprint holder={one.label} checked={checked} compared={compared} onCompared={onCompared} />
      )}
    </Stack>
  )
}

interface Plan {
  threshold: number
  custodians: Candidate[]
  readable: string[]
  isRotation: boolean
}

/**
 * Creates the recovery key and returns how many environments it covers. Its private key exists only for a moment, in
 * the keyring's worker.
 */
async function makeRecoveryKey(orgId: string, { threshold, custodians, readable, isRotation }: Plan): Promise<number> {
  const body = await keyring.call('newRecoveryKey', {
    ...{ orgId, threshold, wrapped: await ownKeysOf(orgId, readable) },
    custodians: custodians.map(({ principalId, publicKeyJwk }) => ({ userId: principalId, publicKeyJwk })),
  })
  const params = { orgId }
  const { coverage } = await (isRotation
    ? api.recovery.rotate({ params, body })
    : api.recovery.enable({ params, body }))
  const holder = recoveryHolder(orgId, body.recoveryPublicKeyJwk)
  const [made] = await keyring.callLocked('fingerprints', { publicKeyJwks: [holder.publicKeyJwk] })
  if (made) pin(holder.principalId, made.fingerprint)
  return coverage.protected
}
