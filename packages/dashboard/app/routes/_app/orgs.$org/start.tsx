import '../../../start/start.css'
import { Button } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { invitesQuery } from '../../../people/queries.ts'
import { keysQuery } from '../../../queries.ts'
import { appQuery, appsQuery, sealedQuery } from '../../../secrets/queries.ts'
import type { EnvironmentWithAccess } from '../../../secrets/use-columns.ts'
import { membersQuery } from '../../../secrets/use-name-of.ts'
import { firstRunQuery } from '../../../start/queries.ts'
import { useStart } from '../../../start/use-start.ts'
import { Chart } from '../../../ui/chart.tsx'
import { AnchorLink } from '../../../ui/links.tsx'
import { Page } from '../../../ui/page.tsx'
import { Step, Steps } from '../../../ui/steps.tsx'

// Each step loads when it is the current one.
const CreateKeys = lazy(async () => ({ default: (await import('../../../account/create-keys.tsx')).CreateKeys }))
const NewApplication = lazy(async () => ({
  default: (await import('../../../start/new-application.tsx')).NewApplication,
}))
const BringSecrets = lazy(async () => ({ default: (await import('../../../start/bring-secrets.tsx')).BringSecrets }))
const Connect = lazy(async () => ({ default: (await import('../../../start/connect.tsx')).Connect }))

export const Route = createFileRoute('/_app/orgs/$org/start')({ component: Start })

/** The first steps of an organization, from the keyring to the first program that runs with its secrets. */
function Start() {
  const { org, me } = Route.useRouteContext()
  const { hide } = useStart(org.id)
  // The first environment and the first stored secret end their steps too early: others follow.
  const [isCreating, setCreating] = useState(false)
  const [isPasting, setPasting] = useState(false)
  const navigate = useNavigate()
  const { app, environments, hasKeyring, hasSecrets, hasRun, hasInvited } = useProgress(org.id)
  const done = [hasKeyring, environments.length > 0 && !isCreating, hasSecrets, hasRun, hasInvited]
  const current = done.indexOf(false)
  const step = (number: number) => ({ number, isDone: done[number - 1]!, isCurrent: current === number - 1 })
  const left = done.filter((one) => !one).length
  const about = [me.user?.email ?? '', me.user?.name ?? '', org.name]
  const leave = async () => {
    hide()
    await navigate({ to: '/orgs/$org/apps', params: { org: org.slug } })
  }
  return (
    <Page
      title="Get started"
      actions={
        <Button variant="subtle" color="gray" onClick={leave}>
          Hide this page
        </Button>
      }
    >
      <div className="start">
        <div>
          <p className="start-title">
            {left === 0 ? 'You are set up' : 'Run a program with its secrets in five steps'}
          </p>
          <p className="help">
            {done.length - left} of {done.length} steps are done. This page stays in the sidebar until you hide it.
          </p>
          <Suspense>
            <Steps>
              <Step {...step(1)} title={hasKeyring ? 'You have a keyring' : 'Make your keyring'}>
                {me.user && <CreateKeys userId={me.user.id} about={about} />}
              </Step>
              <Step {...step(2)} title={app ? `${app.name} has its environments` : 'Create an application'}>
                <NewApplication onCreating={setCreating} />
              </Step>
              <Step
                {...step(3)}
                title={hasSecrets ? 'The first secrets are stored' : 'Bring your secrets'}
                isAlwaysOpen={isPasting}
              >
                <BringSecrets environments={environments} onPasting={setPasting} />
              </Step>
              <Step {...step(4)} title="Run your program with them" isAlwaysOpen={hasSecrets}>
                {app && <Connect app={app.slug} env={envOf(environments)} hasRun={hasRun} />}
              </Step>
              <Step
                {...step(5)}
                title="Invite your team"
                action={
                  <AnchorLink to="/orgs/$org/members" params={{ org: org.slug }} search={{ create: true }}>
                    Invite
                  </AnchorLink>
                }
              />
            </Steps>
          </Suspense>
        </div>
        <Later seed={org.name} />
      </div>
    </Page>
  )
}

/** The page's margin: the organization's chart and what can wait. */
function Later({ seed }: { seed: string }) {
  const org = Route.useRouteContext().org.slug
  return (
    <aside>
      <Chart seed={seed} />
      <h2>Later, when you need it</h2>
      <p>
        <AnchorLink to="/orgs/$org/recovery" params={{ org }} display="block">
          Choose recovery custodians
        </AnchorLink>
        <span className="help">Nobody can open your data if every keyring is lost.</span>
      </p>
      <p>
        <AnchorLink to="/orgs/$org/sync" params={{ org }}>
          Push secrets to GitHub Actions, Vercel and others
        </AnchorLink>
      </p>
    </aside>
  )
}

/** The environment that a person runs programs with on their own machine. */
const envOf = (environments: EnvironmentWithAccess[]): string =>
  (environments.find(({ slug }) => slug === 'development') ?? environments[0])?.slug ?? 'development'

/** The steps that are done. The oldest application counts. */
function useProgress(orgId: string) {
  const keys = useQuery(keysQuery)
  const [first] = useQuery(appsQuery(orgId)).data?.apps ?? []
  const detail = useQuery({ ...appQuery(orgId, first?.id ?? ''), enabled: first !== undefined }).data
  const environments = detail?.environments ?? []
  const readable = environments.filter(({ canDecrypt }) => canDecrypt)
  const sealed = useQueries({ queries: readable.map(({ id }) => sealedQuery(orgId, id)) })
  const hasSecrets = sealed.some(({ data }) => (data?.secrets.size ?? 0) > 0)
  const members = useQuery(membersQuery(orgId)).data?.members ?? []
  const invites = useQuery(invitesQuery(orgId)).data?.invites ?? []
  return {
    app: detail?.app,
    environments,
    hasKeyring: Boolean(keys.data?.publicKeyJwk),
    hasSecrets,
    hasRun: useQuery({ ...firstRunQuery(orgId), enabled: hasSecrets }).data ?? false,
    hasInvited: members.length > 1 || invites.length > 0,
  }
}
