import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { meQuery } from '../queries.ts'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import type { Column } from './columns.ts'

// This part of the page is loaded when it first opens.
const AskDialog = lazy(async () => ({ default: (await import('../requests/ask.tsx')).AskDialog }))

/**
 * Replaces a matrix in which nothing can be read. It says that there may be secrets, and how this person gets access:
 * first a keyring, then the key of an environment from somebody who holds it.
 */
export function NoKey({ orgId, columns }: { orgId: string; columns: Column[] }) {
  const asking = useDialog()
  const { org = '', app, group } = useParams({ strict: false })
  const { data: me } = useQuery(meQuery)
  const environment = columns.find(({ isBranch }) => !isBranch)
  const owner = app === undefined ? `--group ${group}` : `--app ${app}`
  const command = `skerry grant ${me?.user?.email} ${owner} --env ${environment?.slug} --org ${org}`
  if (me?.user?.publicKeyJwk === null)
    return (
      <Empty title="You have no keyring yet" action={<AnchorLink to="/account/keyring">Make your keyring</AnchorLink>}>
        There may be secrets here. Make a keyring, and then ask somebody who can read them to share the keys with you.
        If you made this organization with skerry signup, your own command line can share them.
      </Empty>
    )
  return (
    <>
      <Empty
        title="You hold no key here"
        action={
          <Stack align="center" gap="sm">
            <Button onClick={() => asking.open()}>Ask for access</Button>
            <EnvironmentLinks columns={columns} />
          </Stack>
        }
        command={me?.user?.email && environment ? command : false}
      >
        There may be secrets here, but you cannot read them. Ask for access: an admin who holds the key answers. They
        can also grant it in a terminal, with the command below.
      </Empty>
      <Suspense>
        {asking.show((onClose) => (
          <AskDialog orgId={orgId} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}

/**
 * Links to the environments' pages, for a page without columns. Environments whose key this person lacks are marked.
 */
export function EnvironmentLinks({ columns }: { columns: Column[] }) {
  const { org = '' } = useParams({ strict: false })
  const some = columns.some(({ own }) => own)
  return (
    <Group gap="md" justify="center">
      <Text size="sm" c="dimmed">
        Access and settings:
      </Text>
      {columns.map(({ environmentId, name, own }) => (
        <AnchorLink key={environmentId} to="/orgs/$org/envs/$env" params={{ org, env: environmentId }} size="sm">
          {some && !own ? `${name} (you hold no key)` : name}
        </AnchorLink>
      ))}
    </Group>
  )
}
