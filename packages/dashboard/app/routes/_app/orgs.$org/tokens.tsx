import { Code, Text } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { parseCreateSearch } from '../../../create-search.ts'
import { tokensQuery } from '../../../secrets/use-name-of.ts'
import type { Made } from '../../../tokens/create.ts'
import { TokensPage } from '../../../tokens/tokens-page.tsx'
import { ProblemAlert } from '../../../ui/problem.tsx'

// The list is loaded while its rows load, and the dialog when it first opens.
const TokenList = lazy(async () => ({ default: (await import('../../../tokens/token-list.tsx')).TokenList }))
const CreateTokenDialog = lazy(async () => ({
  default: (await import('../../../tokens/create-dialog.tsx')).CreateTokenDialog,
}))

export const Route = createFileRoute('/_app/orgs/$org/tokens')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(tokensQuery(org.id))
  },
  component: Tokens,
})

function Tokens() {
  return (
    <TokensPage<Made>
      title="Service tokens"
      newLabel="New token"
      CreateDialog={CreateTokenDialog}
      shownOnce={(made) => ({
        title: 'The new token',
        token: made?.token ?? null,
        children: (
          <>
            Give it to a program as <Code>SKERRY_TOKEN</Code>, as in <Code>skerry run -- npm start</Code>.
          </>
        ),
        problem: made?.problem ? <NotAllGranted problem={made.problem} /> : null,
      })}
    >
      <Suspense>
        <TokenList />
      </Suspense>
    </TokensPage>
  )
}

const NotAllGranted = ({ problem }: { problem: unknown }) => (
  <>
    <ProblemAlert error={problem} />
    <Text size="sm">The token exists, but not every key was granted to it: grant it on the environment’s page.</Text>
  </>
)
