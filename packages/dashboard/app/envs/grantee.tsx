import { Select } from '@mantine/core'
import { useState } from 'react'
import { candidateOptions, useCandidates } from './candidates.ts'
import { Fingerprint } from './fingerprint.tsx'
import { useChecked } from './pins.ts'

/**
 * The choice of who gets a key, from all who do not hold it yet. It includes whether the words of their public key were
 * compared.
 */
export function useGrantee(orgId: string, holders: { principalId: string }[]) {
  const candidates = useCandidates(orgId, holders)
  const [id, setId] = useState<string | null>(null)
  const [comparedKey, setComparedKey] = useState<string | null>(null)
  const to = candidates.find(({ principalId }) => principalId === id)
  const checked = useChecked(to ? [to] : [])?.[0]
  const isCompared = to !== undefined && comparedKey === to.publicKeyJwk
  const isReady = checked !== undefined && (checked.status === 'verified' || isCompared)
  return { candidates, to, setId, checked, isCompared, setComparedKey, isReady }
}

export function GranteeFields({ grantee }: { grantee: ReturnType<typeof useGrantee> }) {
  const { candidates, to, setId, checked, isCompared, setComparedKey } = grantee
  return (
    <>
      <Select
        label="To"
        placeholder="A member or a service token"
        searchable
        nothingFoundMessage="No matching person or token without the key"
        data={candidateOptions(candidates)}
        value={to?.principalId ?? null}
        onChange={setId}
        data-autofocus
      />
      {to && checked && (
        <Fingerprint
          holder={to.label}
          checked={checked}
          compared={isCompared}
          onCompared={(yes) => setComparedKey(yes ? to.publicKeyJwk : null)}
        />
      )}
    </>
  )
}
