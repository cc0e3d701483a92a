import { useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Empty } from './empty.tsx'

/** Shows content to owners and admins only. The server refuses it to others. */
export function ForAdmins({ children }: { children: ReactNode }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  if (org.role !== 'member') return <>{children}</>
  return (
    <Empty title="This is for owners and admins">
      You are a member of {org.name}. Ask one of its admins if you need something here.
    </Empty>
  )
}
