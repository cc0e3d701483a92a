import { createFileRoute } from '@tanstack/react-router'
import { Protection } from '../../../../../envs/protection.tsx'
import { useEnvironment } from '../../../../../envs/use-environment.ts'

export const Route = createFileRoute('/_app/orgs/$org/envs/$env/protection')({ component: ProtectionPage })

function ProtectionPage() {
  return <Protection environment={useEnvironment()} />
}
