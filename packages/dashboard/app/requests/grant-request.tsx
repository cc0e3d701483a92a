import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Fingerprint, FirstWords } from '../envs/fingerprint.tsx'
import { GrantSpan } from '../envs/grant-span.tsx'
import { layersBelow } from '../envs/layers-below.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { type Checked, checkedKeys, pin, shownNames, useChecked } from '../envs/pins.ts'
import { grantOne } from '../envs/wrap-key.ts'
import { nameOfMember } from '../people/member.ts'
import { fetchCached, isFresh, orgQueries } from '../queries.ts'
import { envQuery } from '../secrets/queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { requireListed } from '../trust/checks.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { RequestedEnvironments } from './environments.tsx'
import { type AccessRequest, requestQueries } from './queries.ts'

/**
 * Grants the keys of a request after the words of the person's key were compared. The keyring's worker wraps each key.
 * The last grant closes the request.
 */
export function GrantRequest(props: { orgId: string; request: AccessRequest; onClose: () => void }) {
  const { orgId, request, onClose } = props
  const members = useQuery({ ...membersQuery(orgId), staleTime: 0 })
  const member = members.data?.members.find(({ userId }) => userId === request.userId)
  const publicKeyJwk = member?.publicKeyJwk ?? null
  const to =
    publicKeyJwk === null ? null : { principalType: 'user' as const, principalId: request.userId, publicKeyJwk }
  const checked = useChecked(to ? [to] : [])?.[0]
  const [comparedKey, setComparedKey] = useState<string | null>(null)
  const [seconds, setSeconds] = useState<number | null>(request.forSeconds)
  const missing = request.environments.filter(({ granted }) => !granted)
  const wanted = missing.filter(({ held }) => held)
  const others = missing.filter(({ held }) => !held)
  const below = useLayersBelow(orgId, wanted)
  const envIds = [...wanted.map(({ environmentId }) => environmentId), ...(below.data ?? []).map(({ id }) => id)]
  const name = member ? nameOfMember(member) : 'This person'
  const isReady = checked !== undefined && (checked.status !== 'changed' || comparedKey === publicKeyJwk)
  const grant = async () => {
    if (!to || !checked) return
    const { fingerprint } = checked
    await checkMeanings(envIds)
    await requireListed(orgId, [to])
    pin(to.principalId, fingerprint, shownNames(member ?? {}))
    for (const envId of envIds) await grantOne(orgId, envId, { ...to, fingerprint }, seconds)
    showToast(`${name} can read ${countOf(wanted.length)} now.`)
  }
  const submit = checked?.status === 'first' ? 'They match, grant' : 'Grant'
  return (
    <FormDialog
      title={`Give ${name} access`}
      submit={`${submit} ${countOf(wanted.length)}`}
      onClose={onClose}
      onSubmit={grant}
      stale={[checkedKeys, requestQueries(orgId), ...envIds.map((envId) => orgQueries(orgId, 'envs', envId))]}
      disabled={!isReady || wanted.length === 0 || !isFresh(members) || !isFresh(below)}
      size="lg"
    >
      <RequestedEnvironments orgId={orgId} environments={wanted} />
      {request.reason && <Text size="sm">“{request.reason}”</Text>}
      <GrantSpan label="For how long" value={seconds} onChange={setSeconds} />
      {below.data && below.data.length > 0 && (
        <Text size="sm" c="dimmed">
          Their programs also need {below.data.map(({ label }) => label).join(', ')}, which is composed in. You grant
          it, too.
        </Text>
      )}
      {others.length > 0 && (
        <Text size="sm" c="dimmed">
          You hold no key to {others.map(({ label }) => label).join(', ')}. Another admin must grant the rest.
        </Text>
      )}
      <ProblemAlert error={members.error ?? below.error} />
      {members.data && publicKeyJwk === null && (
        <Alert color="yellow" variant="light" title={`${name} has no keyring yet`}>
          You can grant keys as soon as they have made one.
        </Alert>
      )}
      {checked && (
        <Comparison
          name={name}
          checked={checked}
          isCompared={comparedKey === publicKeyJwk}
          onCompared={(yes) => setComparedKey(yes ? publicKeyJwk : null)}
        />
      )}
    </FormDialog>
  )
}

/** For a key that this browser sees for the first time, the button of the dialog says that the words match. */
function Comparison(props: {
  name: string
  checked: Checked
  isCompared: boolean
  onCompared: (yes: boolean) => void
}) {
  const { name, checked, isCompared, onCompared } = props
  if (checked.status !== 'first')
    return <Fingerprint holder={name} checked={checked} compared={isCompared} onCompared={onCompared} />
  return <FirstWords name={name} words={checked.words} />
}

/** The environments that are composed into these, and that this person can read. */
function useLayersBelow(orgId: string, wanted: { environmentId: string }[]) {
  const ids = wanted.map(({ environmentId }) => environmentId)
  return useQuery({
    queryKey: ['orgs', orgId, 'below', ids],
    queryFn: async () => {
      const found = await Promise.all(
        ids.map(async (id) => layersBelow(orgId, (await fetchCached(envQuery(orgId, id))).environment)),
      )
      const byId = new Map(found.flat().map(({ environmentId, label }) => [environmentId, label]))
      return [...byId].flatMap(([id, label]) => (ids.includes(id) ? [] : [{ id, label }]))
    },
    staleTime: 0,
  })
}

const countOf = (count: number) => (count === 1 ? '1 environment' : `${count} environments`)
