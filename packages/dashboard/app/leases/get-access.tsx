import { MultiSelect, Select, TagsInput, Text, TextInput } from '@mantine/core'
import { cloudTtlDefaultMaxSeconds, isCloud, leaseFacts, roleNamePattern } from '@skerry/contract/leases/facts'
import { vendorName } from '@skerry/contract/vendors'
import type { MadeLease } from '@skerry/sdk/internal/lease-making'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { durationText } from '../ui/durations.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { makeLease } from './make.ts'
import { type LeaseTarget, ledgerQuery, targetsQuery } from './queries.ts'

/** A new lease, and its target, which says how to connect. */
export interface MadeAccess {
  made: MadeLease
  target: LeaseTarget
}

const lifetimes = [300, 900, 3600, 4 * 3600, 8 * 3600, 12 * 3600, 24 * 3600]
const lifetimeDefaultSeconds = 3600
const roleName = new RegExp(roleNamePattern)
const withNames = ['postgres', 'mysql', 'redis']

/** The dialog to create a lease. Its password or key is made in this browser. */
export function GetAccessDialog(props: {
  targetId: string | null
  onClose: () => void
  onMade: (made: MadeAccess) => void
}) {
  const { onClose, onMade } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(targetsQuery(org.id))
  const targets = query.data ?? []
  const [targetId, setTargetId] = useState(props.targetId)
  const target = targets.find(({ id }) => id === targetId) ?? (targets.length === 1 ? targets[0] : undefined)
  const [asked, setAsked] = useState(lifetimeDefaultSeconds)
  const [name, setName] = useState('')
  const [principals, setPrincipals] = useState<string[]>([])
  const allowed = target ? lifetimesOf(target) : []
  const ttlSeconds = allowed.includes(asked) ? asked : (allowed.at(-1) ?? asked)
  const isNamed = target !== undefined && withNames.includes(target.provider)
  const nameProblem =
    isNamed && name !== '' && !roleName.test(name) ? 'Lowercase letters, digits and _; not a digit first.' : null
  const isSsh = target?.provider === 'ssh'
  const get = async () => {
    if (!target) return
    const more = isSsh ? { principals } : isNamed && name !== '' ? { roleName: name } : {}
    const made = await makeLease(org.id, { target, ttlSeconds, ...more })
    onMade({ made, target })
  }
  return (
    <FormDialog
      title="Get access"
      submit="Get access"
      onClose={onClose}
      onSubmit={get}
      stale={[ledgerQuery(org.id)]}
      disabled={!target || nameProblem !== null || (isSsh && principals.length === 0)}
    >
      <ProblemAlert error={query.error} retry={() => query.refetch()} />
      <Select
        label="To"
        placeholder="A target"
        searchable
        nothingFoundMessage="No target by that name"
        data={targets.map(({ id, name, provider }) => ({
          value: id,
          label: `${name} (${vendorName(provider)})`,
        }))}
        value={target?.id ?? null}
        openOnFocus={false}
        onChange={setTargetId}
        data-autofocus
      />
      {query.data?.length === 0 && <NoTarget />}
      {target && (
        <Select
          label="For"
          description="The access ends by itself after this time."
          data={allowed.map((seconds) => ({ value: String(seconds), label: durationText(seconds) }))}
          value={String(ttlSeconds)}
          allowDeselect={false}
          onChange={(to) => setAsked(Number(to))}
        />
      )}
      {isNamed && (
        <TextInput
          label="Name of the account"
          description="Optional. A name is generated if you leave this empty. The account must not exist on the target yet."
          classNames={{ input: 'mono' }}
          autoComplete="off"
          spellCheck={false}
          value={name}
          error={nameProblem}
          onChange={(event) => setName(event.currentTarget.value.trim())}
        />
      )}
      {isSsh && <LoginNames target={target} value={principals} onChange={setPrincipals} />}
    </FormDialog>
  )
}

function NoTarget() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <Text size="sm">
      There is no target yet.{' '}
      <AnchorLink to="/orgs/$org/leases/targets" params={{ org: org.slug }} search={{ create: true }}>
        Register one
      </AnchorLink>{' '}
      first.
    </Text>
  )
}

function LoginNames(props: { target: LeaseTarget; value: string[]; onChange: (value: string[]) => void }) {
  const { target, value, onChange } = props
  const { allowedPrincipals } = target.config as { allowedPrincipals?: string[] }
  const common = { label: 'Login names', description: 'Accounts on the hosts to which it lets you sign in.' }
  return allowedPrincipals ? (
    <MultiSelect {...common} data={allowedPrincipals} value={value} onChange={onChange} />
  ) : (
    <TagsInput {...common} placeholder="deploy" splitChars={[',', ' ']} value={value} onChange={onChange} />
  )
}

/** Returns the lifetimes that the provider and the target allow. The last one is the target's own limit. */
function lifetimesOf({ provider, config }: LeaseTarget): number[] {
  const { min, max } = leaseFacts[provider].ttlSeconds
  const { maxTtlSeconds = isCloud(provider) ? cloudTtlDefaultMaxSeconds : max } = config as { maxTtlSeconds?: number }
  const within = lifetimes.filter((seconds) => seconds >= min && seconds < maxTtlSeconds)
  return [...within, maxTtlSeconds]
}
