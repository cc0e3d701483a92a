import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useEffectEvent, useRef } from 'react'
import { api } from '../api.ts'
import { checkKeys } from '../envs/pins.ts'
import { type RecentChange, useLive } from '../live/state.ts'
import { rowActions, tellOfRow } from '../offboarding/tell-of-row.ts'
import { nameOfMember } from '../people/member.ts'
import { Cancelled } from '../prompts.ts'
import { fetchCached, fetchNow } from '../queries.ts'
import { ownersQuery } from '../requests/queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { describeProblem } from '../ui/problem.tsx'
import { showErrorToast, showToast } from '../ui/toast.ts'
import { useDialog } from '../ui/use-dialog.ts'
import { showActionToast } from './action-toast.tsx'
import { countOf, grantAtOnce, NotCompared } from './grant-at-once.ts'
import { missingOfQuery } from './queries.ts'
import { useReceived } from './received.ts'

// Loaded when it first opens.
const PassOnDialog = lazy(async () => ({ default: (await import('./pass-on-dialog.tsx')).PassOnDialog }))

/**
 * Tells people of what others did, on every page of the organization: admins that somebody waits for keys which they hold,
 * and everyone that they got keys.
 */
export function Arrivals() {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const passing = useDialog<string>()
  const hasKeyring = Boolean(me.user?.publicKeyJwk)
  useReceived(org.id)
  const recent = useLive((live) => live.recent)
  const seen = useRef(new WeakSet<RecentChange>())
  const tellAdmin = useEffectEvent((change: RecentChange) => {
    const show = () => void navigate({ to: '/orgs/$org/requests', params: { org: org.slug } })
    const showOffboarding = (offboarding: string) =>
      void navigate({ to: '/orgs/$org/offboardings/$offboarding', params: { org: org.slug, offboarding } })
    if (org.role === 'member') return
    if (rowActions.has(change.action)) tellOfRow(org.id, me.user?.id ?? '', change, showOffboarding).catch(showProblem)
    else if (hasKeyring) tell(org.id, change, { compare: passing.open, show }).catch(showProblem)
  })
  useEffect(() => {
    for (const change of recent) {
      if (!seen.current.has(change)) tellAdmin(change)
      seen.current.add(change)
    }
  }, [recent])
  return (
    <Suspense>
      {passing.show((onClose, userId) => (
        <PassOnDialog orgId={org.id} userId={userId} onClose={onClose} />
      ))}
    </Suspense>
  )
}

const readyActions = new Set(['user.keys_uploaded', 'user.keys_replaced', 'member.joined'])

/** The dialogs and pages that a toast can open: the comparison of a person’s words, and the page of the requests. */
interface Openers {
  compare: (userId: string) => void
  show: () => void
}

async function tell(orgId: string, change: RecentChange, openers: Openers): Promise<void> {
  const { action, resourceId, resourceType } = change
  if (resourceId === undefined) return
  if (action === 'access_request.opened') return tellOfRequest(orgId, resourceId, openers)
  if (readyActions.has(action) && resourceType === 'user') return tellOfPerson(orgId, resourceId, openers)
}

async function findMember(orgId: string, userId: string) {
  const { members } = await fetchNow(membersQuery(orgId))
  return members.find((one) => one.userId === userId)
}

/** Says that a person can get keys now: they have a keyring, and this admin holds what they wait for. */
async function tellOfPerson(orgId: string, userId: string, { compare }: Openers): Promise<void> {
  const missing = await fetchCached(missingOfQuery(orgId, userId))
  const ready = missing.filter(({ held, publicKeyJwk }) => held && publicKeyJwk !== null)
  if (ready.length === 0) return
  const member = await findMember(orgId, userId)
  if (!member?.publicKeyJwk) return
  const [checked] = await checkKeys([{ principalId: userId, publicKeyJwk: member.publicKeyJwk }])
  const count = ready.length === 1 ? '1 key' : `${ready.length} keys`
  const act = checked?.status === 'verified' ? `Pass on ${count}` : 'Compare words'
  const message = `${nameOfMember(member)} is ready.`
  showActionToast({ id: `ready-${userId}`, message, act, run: () => compare(userId) })
}

/** A toast names at most so many environments. Nobody grants a key of an environment that was not named. */
const namedMax = 6

async function tellOfRequest(orgId: string, accessRequestId: string, { compare, show }: Openers): Promise<void> {
  const { request } = await api.accessRequests.get({ params: { orgId, accessRequestId } })
  const { userId, reason, environments } = request
  const held = environments.filter((one) => one.held && !one.granted)
  const member = await findMember(orgId, userId)
  if (request.status !== 'open' || held.length === 0 || !member?.publicKeyJwk) return
  const [checked] = await checkKeys([{ principalId: userId, publicKeyJwk: member.publicKeyJwk }])
  const grant = () =>
    void grantAtOnce(orgId, request).then(showToast, (error) =>
      error instanceof NotCompared ? compare(userId) : showProblem(error),
    )
  const isShort = environments.length <= namedMax
  const [act, run] = !isShort
    ? (['Show the request', show] as const)
    : checked?.status === 'verified'
      ? ([`Grant ${countOf(held.length)}`, grant] as const)
      : (['Compare words', () => compare(userId)] as const)
  const wanted = isShort ? await namesOf(orgId, environments) : countOf(environments.length)
  const why = reason === null ? '.' : `: “${reason}”`
  const message = `${nameOfMember(member)} asks for ${wanted}${why}`
  showActionToast({ id: `request-${accessRequestId}`, message, act, run })
}

/** The names under which this browser knows the environments. The server’s label is used only for a branch. */
async function namesOf(orgId: string, environments: readonly { environmentId: string; label: string }[]) {
  const owners = await fetchCached(ownersQuery(orgId))
  const names = new Map(
    owners.flatMap((owner) => owner.environments.map(({ id, name }) => [id, `${owner.name} / ${name}`] as const)),
  )
  return new Intl.ListFormat('en').format(
    environments.map(({ environmentId, label }) => names.get(environmentId) ?? label),
  )
}

function showProblem(error: unknown) {
  if (error instanceof Cancelled) return
  const { title, advice = '' } = describeProblem(error)
  showErrorToast(title, advice)
}
