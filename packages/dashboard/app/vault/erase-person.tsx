import { Button, Text } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { orgQueries } from '../queries.ts'
import { useConfirm } from '../ui/use-confirm.tsx'
import type { Project } from './queries.ts'

/** Deletes all data of the person by whom the connections are filtered. */
export function ErasePerson({ project, userRef }: { project: Project; userRef: string }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [erased, setErased] = useState<string | null>(null)
  const erase = async () => {
    const params = { orgId: org.id, projectId: project.id, userRef }
    const { erased: counts } = await api.vaultProjects.eraseUser({ params })
    setErased(`${userRef} is erased. Connections deleted: ${counts.connections}. Links deleted: ${counts.sessions}.`)
  }
  const erasing = useConfirm(() => ({
    title: `Erase ${userRef}?`,
    text: 'This deletes their connections, credentials, links and webhook deliveries for good. Your product is not told by a webhook. At the providers, access stays valid until it is revoked there. The audit log keeps a digest of the person’s id.',
    confirm: 'Erase',
    typed: userRef,
    onConfirm: erase,
    stale: [orgQueries(org.id, 'vault')],
  }))
  return (
    <>
      <Button variant="light" color="red" size="xs" mb="sm" onClick={() => erasing.open()}>
        Erase this person
      </Button>
      <Text size="sm" role="status" mb={erased === null ? undefined : 'sm'}>
        {erased}
      </Text>
      {erasing.dialog}
    </>
  )
}
