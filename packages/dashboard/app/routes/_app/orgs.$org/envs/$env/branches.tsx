import { createFileRoute } from '@tanstack/react-router'
import { Branches } from '../../../../../envs/branches.tsx'
import { useEnvironment, useHoldsKey } from '../../../../../envs/use-environment.ts'

export const Route = createFileRoute('/_app/orgs/$org/envs/$env/branches')({ component: BranchesPage })

function BranchesPage() {
  const environment = useEnvironment()
  return <Branches environment={environment} holdsKey={useHoldsKey(environment.id)} />
}
