import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useEnvironment } from '../../../../../envs/use-environment.ts'

// Loaded separately, because dragging needs a lot of code.
const Composition = lazy(async () => ({ default: (await import('../../../../../envs/composition.tsx')).Composition }))

export const Route = createFileRoute('/_app/orgs/$org/envs/$env/composition')({ component: CompositionPage })

function CompositionPage() {
  const environment = useEnvironment()
  return (
    <Suspense>
      <Composition environment={environment} />
    </Suspense>
  )
}
