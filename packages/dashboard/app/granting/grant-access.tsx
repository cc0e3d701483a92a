import './granting.css'
import { Button, Group, MultiSelect, Stack } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { GrantSpan } from '../envs/grant-span.tsx'
import { isProduction } from '../look/environments.ts'
import { EnvironmentGrid } from '../people/environment-grid.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { optionOf, type Principal, principalOf, usePrincipalOptions } from './principals.ts'
import { Receivers } from './receivers.tsx'
import { countOf, type Granting, useGranting } from './use-granting.ts'

const unheldText = 'You do not hold the key. The environment waits for someone who does.'

/**
 * Grants environments to teams, people and tokens. The keyring's worker wraps the keys. A team keeps the environments, and a
 * person a plan, so that an interrupted grant can be completed by anyone who holds the keys.
 */
export function GrantAccessDialog({ first, onClose }: { first: readonly Principal[]; onClose: () => void }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const granting = useGranting({ orgId: org.id, ownId: me.user?.id ?? '' }, first, onClose)
  const { owners, ticked, setTicked, has, blocked, problems, pending, receivers, queryError } = granting
  const close = () => pending || onClose()
  return (
    <Dialog opened onClose={close} title="Grant access" size={860} closeOnClickOutside={false}>
      <Form onSubmit={() => granting.isReady && granting.run()}>
        <Stack>
          <To orgId={org.id} granting={granting} />
          <Loaded query={owners}>
            {(all) => (
              <EnvironmentGrid
                owners={all}
                chosen={ticked}
                onChange={setTicked}
                has={has}
                blockedBecause={blocked}
                unheldText={unheldText}
                problems={problems}
                isDisabled={pending}
              />
            )}
          </Loaded>
          <Receivers receivers={receivers} later={laterOf(granting)} />
          <Span granting={granting} />
          <ProblemAlert error={queryError ?? granting.error} />
          <Problems granting={granting} />
          <Foot granting={granting} onClose={close} />
        </Stack>
      </Form>
    </Dialog>
  )
}

function To({ orgId, granting }: { orgId: string; granting: Granting }) {
  const { principals, setPrincipals, pending } = granting
  return (
    <MultiSelect
      label="To"
      placeholder={principals.length === 0 ? 'Add a team, a person or a token' : ''}
      searchable
      hidePickedOptions
      limit={50}
      openOnFocus={false}
      nothingFoundMessage="No matching team, person or token"
      data={usePrincipalOptions(orgId)}
      value={principals.map(optionOf)}
      disabled={pending}
      onChange={(values) => setPrincipals(values.map(principalOf))}
    />
  )
}

/** Says what happens with people who join a team later. */
function laterOf({ teams }: Granting): string | null {
  if (teams.length === 0) return null
  const names = teams.map(({ team }) => team.name).join(' or ')
  return `Whoever joins ${names} later gets these keys once their words are compared.`
}

function Span({ granting }: { granting: Granting }) {
  if (granting.hasTeam)
    return (
      <p className="help">Access through a team has no end. It lasts until you take the environment from the team.</p>
    )
  return <GrantSpan label="For how long" value={granting.seconds} onChange={granting.setSeconds} />
}

function Problems({ granting: { problems, owners } }: { granting: Granting }) {
  if (problems.size === 0) return null
  const names = new Map(
    (owners.data ?? []).flatMap(({ name, environments }) =>
      environments.map((one) => [one.id, `${one.name} of ${name}`] as const),
    ),
  )
  return (
    <ul className="granting-problems" role="alert">
      {[...problems].map(([id, text]) => (
        <li key={id}>
          <b>{names.get(id) ?? id}</b>: {text}
        </li>
      ))}
    </ul>
  )
}

function Foot({ granting, onClose }: { granting: Granting; onClose: () => void }) {
  const { chosen, progress, pending, isReady } = granting
  const production = chosen.filter(({ slug }) => isProduction(slug)).length
  const held = chosen.filter(({ canDecrypt }) => canDecrypt).length
  const submit = held === 0 && chosen.length > 0 ? `Store ${countOf(chosen.length)}` : `Grant ${countOf(chosen.length)}`
  return (
    <Group justify="flex-end">
      <span className="help granting-foot" aria-live="polite">
        {production === 0 ? 'No production environment is included.' : `${countOf(production)} of production included.`}{' '}
        {held < chosen.length && `${countOf(chosen.length - held)} will wait for someone who holds the key.`}
      </span>
      <Button variant="default" disabled={pending} onClick={onClose}>
        Cancel
      </Button>
      <Button type="submit" disabled={!isReady || pending}>
        {progress ? `${progress.done} of ${progress.all}` : submit}
      </Button>
    </Group>
  )
}
