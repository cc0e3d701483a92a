import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

// Loaded after the page, because few pages have something to show here.
const RekeyList = lazy(async () => ({ default: (await import('./rekey-list.tsx')).RekeyList }))

/** Lists for admins the environments whose key a former holder may have kept. */
export function RekeyNotice() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  if (org.role === 'member') return null
  return (
    <Suspense>
      <RekeyList />
    </Suspense>
  )
}
