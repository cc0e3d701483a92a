import { Button } from '@mantine/core'
import { createFileRoute, redirect } from '@tanstack/react-router'
import { useState } from 'react'
import { NewOrgDialog } from '../../new-org.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Page } from '../../ui/page.tsx'

/** The start leads to the first organization; whoever is in none can make one. */
export const Route = createFileRoute('/_app/')({
  beforeLoad: ({ context }) => {
    const [org] = context.me.orgs
    if (org) throw redirect({ to: '/orgs/$org', params: { org: org.slug } })
  },
  component: Start,
})

function Start() {
  const [opened, setOpened] = useState(false)
  return (
    <Page title="Welcome" width="text">
      <Empty
        title="You are in no organization yet"
        action={<Button onClick={() => setOpened(true)}>New organization</Button>}
      >
        Make one, or have someone invite you to theirs by your e-mail address.
      </Empty>
      {opened && <NewOrgDialog onClose={() => setOpened(false)} />}
    </Page>
  )
}
