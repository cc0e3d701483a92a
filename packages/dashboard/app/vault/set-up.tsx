import { Anchor } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { Section } from '../ui/page.tsx'
import { Step, Steps } from '../ui/steps.tsx'
import { connectionsQuery, type Executor, type PlatformKey, type Project } from './queries.ts'

/** The steps until people can connect accounts, in their order. They are gone after the first connection. */
export function SetUp(props: { project: Project; executor: Executor | null; keys: PlatformKey[] }) {
  const { project, executor, keys } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const connections = useInfiniteQuery(connectionsQuery(org.id, project.id, {})).data?.pages[0]?.connections
  if (!connections || connections.length > 0) return null
  const done = [
    project.display.returnOrigins.length > 0,
    executor !== null,
    keys.some(({ revokedAt }) => revokedAt === null),
    false,
  ]
  const step = (number: number) => ({
    number,
    isDone: done[number - 1] === true,
    isCurrent: done.indexOf(false) === number - 1,
  })
  return (
    <Section title="Set up" description="Four steps until a person can connect an account.">
      <Steps>
        <Step {...step(1)} title="Enter a return origin">
          Edit the Connect page below. The return origin is the address of your product, such as
          https://app.example.com. People go back there after they connected an account.
        </Step>
        <Step {...step(2)} title="Register the executor">
          Register an executor below, and run the command that you get on its machine, in your own network.
        </Step>
        <Step {...step(3)} title="Give your backend a platform key">
          Make a platform key below. Your backend makes links with it.
        </Step>
        <Step {...step(4)} title="Connect the first account">
          Make a link with your backend, and open it. <Anchor href="/docs/vault-backend/">The documentation</Anchor>{' '}
          shows how.
        </Step>
      </Steps>
    </Section>
  )
}
