import { Alert, Select, Stack } from '@mantine/core'
import type { LeaseConfig, LeaseTag } from '@skerry/contract/leases/providers'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Fingerprint } from '../envs/fingerprint.tsx'
import { pin, useChecked } from '../envs/pins.ts'
import { ServerReads, wrapCredential } from '../form/credential-field.tsx'
import { keyring } from '../keyring.ts'
import { fetchCached, isFresh } from '../queries.ts'
import { tokensQuery } from '../secrets/use-name-of.ts'
import { isInForce, tokenLabel } from '../tokens/queries.ts'
import { IconEye } from '../ui/icons.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import { brokerKeyQuery } from './queries.ts'

/** Whether a provisioner can sign in to such a target instead of the server. */
export const isProvisionable = (provider: LeaseTag): boolean => ['postgres', 'mysql', 'redis'].includes(provider)

/**
 * Chooses who signs in to a target and can therefore read its admin credential. It is this server (null), or the holder
 * of a service token, such as `skerry provisioner` in the customer's network.
 */
export function useReader(orgId: string, tokenId: string | null) {
  const broker = useQuery({ ...brokerKeyQuery(orgId), enabled: tokenId === null })
  const query = useQuery({ ...tokensQuery(orgId), staleTime: 0 })
  const tokens = (query.data?.tokens ?? []).filter(isInForce)
  const token = tokens.find(({ id }) => id === tokenId)
  const publicKeyJwk = token?.publicKeyJwk ?? null
  const checked = useChecked(token ? [{ principalId: token.id, publicKeyJwk: token.publicKeyJwk }] : [])?.[0]
  const [compared, setCompared] = useState<string | null>(null)
  const isCompared = compared !== null && compared === publicKeyJwk
  const isKnown = checked !== undefined && (checked.status === 'verified' || isCompared)
  /**
   * Wraps the credential, in the keyring's worker. For a provisioner it is sealed together with the target's settings.
   */
  const wrap = async (text: string, config: object): Promise<string> => {
    if (tokenId === null) {
      const { publicKeyJwk } = await fetchCached(brokerKeyQuery(orgId))
      return wrapCredential(text, publicKeyJwk)
    }
    if (publicKeyJwk === null || !checked) throw new Error('the provisioner’s key has not been compared')
    pin(tokenId, checked.fingerprint)
    const toSeal = { adminSecret: text.trim(), config: config as LeaseConfig<LeaseTag> }
    return keyring.callLocked('sealForProvisioner', { ...toSeal, publicKeyJwk })
  }
  return {
    ...{ tokenId, broker, query, tokens, token, checked, wrap },
    isReady: tokenId === null ? isFresh(broker) : isFresh(query) && isKnown,
    isCompared,
    onCompared: (yes: boolean) => setCompared(yes ? publicKeyJwk : null),
  }
}

type Reader = ReturnType<typeof useReader>

const thisServer = 'in_broker'

export function ReaderField({ reader, onChange }: { reader: Reader; onChange: (tokenId: string | null) => void }) {
  const { query, tokens, tokenId } = reader
  const items = tokens.map((token) => ({ value: token.id, label: tokenLabel(token) }))
  return (
    <>
      <ProblemAlert error={query.error} retry={() => query.refetch()} />
      <Select
        label="Who signs in"
        description="This server, or skerry provisioner: a process in your own network that has one of your service tokens."
        searchable
        allowDeselect={false}
        nothingFoundMessage="No service token by that name"
        data={[
          { value: thisServer, label: 'This server' },
          ...(items.length > 0 ? [{ group: 'A provisioner with the token', items }] : []),
        ]}
        value={tokenId ?? thisServer}
        onChange={(to) => onChange(to === thisServer ? null : to)}
      />
    </>
  )
}

/** Says who will be able to read an admin credential. Show it wherever one is asked for. */
export function ReaderNotice({ reader }: { reader: Reader }) {
  const { broker, tokenId, token, checked, isCompared, onCompared } = reader
  if (tokenId === null)
    return (
      <>
        <ProblemAlert error={broker.error} retry={() => broker.refetch()} />
        <ServerReads>it signs in with the credential to make and remove accounts.</ServerReads>
      </>
    )
  const holder = token?.name ?? 'the provisioner'
  return (
    <Alert
      color="sea"
      variant="light"
      icon={<IconEye size={18} />}
      title={`The holder of the token ${holder} will be able to read it`}
    >
      <Stack gap="sm">
        <span>
          The server cannot. Make an account for Skerry alone, with no more rights than it needs, and run skerry
          provisioner with the token.
        </span>
        {checked && (
          <Fingerprint
            holder={`the holder of ${holder}`}
            checked={checked}
            compared={isCompared}
            onCompared={onCompared}
          />
        )}
      </Stack>
    </Alert>
  )
}
