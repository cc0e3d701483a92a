import '../../../start/start.css'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { recoveryKitQuery } from '../../../account/queries.ts'
import { invalidate, keysQuery, orgQueries } from '../../../queries.ts'
import { Chart } from '../../../ui/chart.tsx'
import { AnchorLink } from '../../../ui/links.tsx'
import { Page } from '../../../ui/page.tsx'
import { ProblemAlert } from '../../../ui/problem.tsx'
import { Step, Steps } from '../../../ui/steps.tsx'
import { appOfHolding, holdingsQuery } from '../../../welcome/holdings.ts'

// Each step loads when it is the current one.
const CreateKeys = lazy(async () => ({ default: (await import('../../../account/create-keys.tsx')).CreateKeys }))
const NewKit = lazy(async () => ({ default: (await import('../../../account/new-kit.tsx')).NewKit }))
const OpensLater = lazy(async () => ({ default: (await import('../../../welcome/opens-later.tsx')).OpensLater }))
const Compare = lazy(async () => ({ default: (await import('../../../welcome/compare.tsx')).Compare }))

export const Route = createFileRoute('/_app/orgs/$org/welcome')({
  component: Welcome,
})

/** The first steps of a person who was invited, from the keyring to the first application that they can read. */
function Welcome() {
  const { org, me } = Route.useRouteContext()
  const keys = useQuery(keysQuery)
  const kit = useQuery(recoveryKitQuery)
  const holdings = useQuery(holdingsQuery(org.id))
  const publicKeyJwk = keys.data?.publicKeyJwk ?? null
  const hasKey = (holdings.data ?? []).length > 0
  const app = appOfHolding(holdings.data ?? [])
  const done = [true, publicKeyJwk !== null, Boolean(kit.data?.kit), hasKey]
  const current = done.indexOf(false)
  const isLoaded = keys.data !== undefined && kit.data !== undefined && holdings.data !== undefined
  useGoOn(isLoaded && current === -1, app)
  const step = (number: number) => ({ number, isDone: done[number - 1]!, isCurrent: current === number - 1 })
  const { user } = me
  return (
    <Page title={`Welcome to ${org.name}`}>
      <div className="start">
        <div>
          <p className="start-title">
            {current === -1 ? 'You can read secrets' : 'Read your first secret in five steps'}
          </p>
          <p className="help">
            Your keyring decrypts secrets in this browser. The server stores ciphertext only, so a person has to give
            you the keys.
          </p>
          <ProblemAlert error={keys.error ?? kit.error ?? holdings.error} />
          {isLoaded && (
            <Suspense>
              <Steps>
                <Step {...step(1)} title={`You joined ${org.name}`} />
                <Step {...step(2)} title={publicKeyJwk ? 'You have a keyring' : 'Make your keyring'}>
                  {user && <CreateKeys userId={user.id} about={[user.email ?? '', user.name ?? '', org.name]} />}
                </Step>
                <Step {...step(3)} title={kit.data?.kit ? 'You have a recovery kit' : 'Save your recovery kit'}>
                  {user && publicKeyJwk && (
                    <NewKit person={{ userId: user.id, email: user.email ?? user.id, publicKeyJwk }} />
                  )}
                </Step>
                <Step {...step(4)} title={hasKey ? 'An admin gave you a key' : 'Compare words and get access'}>
                  {publicKeyJwk && <Compare publicKeyJwk={publicKeyJwk} />}
                </Step>
                <Step
                  number={5}
                  title="Read your first secret"
                  isDone={false}
                  isCurrent={current === -1}
                  action={
                    hasKey &&
                    (app === null ? (
                      <AnchorLink to="/orgs/$org/apps" params={{ org: org.slug }}>
                        Open the applications
                      </AnchorLink>
                    ) : (
                      <AnchorLink to="/orgs/$org/apps/$app" params={{ org: org.slug, app }}>
                        Open {app}
                      </AnchorLink>
                    ))
                  }
                />
              </Steps>
            </Suspense>
          )}
        </div>
        <aside>
          {isLoaded && !hasKey && (
            <Suspense>
              <OpensLater />
            </Suspense>
          )}
          <Chart seed={org.name} />
        </aside>
      </div>
    </Page>
  )
}

/** Opens the first application that the person can read, as soon as the last step is done while they look on. */
function useGoOn(isDone: boolean, app: string | null) {
  const { org } = Route.useRouteContext()
  const navigate = useNavigate()
  const wasOpen = useRef(false)
  useEffect(() => {
    if (!isDone) {
      wasOpen.current = true
      return
    }
    if (!wasOpen.current || app === null) return
    // A person who leaves the page meanwhile stays where they are.
    let hasLeft = false
    void invalidate(orgQueries(org.id)).then(() => {
      if (!hasLeft) void navigate({ to: '/orgs/$org/apps/$app', params: { org: org.slug, app } })
    })
    return () => {
      hasLeft = true
    }
  }, [isDone, app, navigate, org.id, org.slug])
}
