import './requests.css'
import { useQuery } from '@tanstack/react-query'
import { EnvName } from '../ui/env-name.tsx'
import { ownersQuery } from './queries.ts'

/** The environments of a request, by application. A branch is shown by its label. */
export function RequestedEnvironments(props: {
  orgId: string
  environments: readonly { environmentId: string; label: string }[]
}) {
  const { orgId, environments } = props
  const owners = useQuery(ownersQuery(orgId)).data ?? []
  const ids = new Set(environments.map(({ environmentId }) => environmentId))
  const known = owners
    .map((owner) => ({ ...owner, environments: owner.environments.filter(({ id }) => ids.has(id)) }))
    .filter((owner) => owner.environments.length > 0)
  const named = new Set(known.flatMap((owner) => owner.environments.map(({ id }) => id)))
  return (
    <div className="requested">
      {known.map((owner) => (
        <span key={owner.id} className="requested-owner">
          <strong>{owner.name}</strong>
          {owner.environments.map(({ id, name, slug }) => (
            <EnvName key={id} name={name} slug={slug} solid />
          ))}
        </span>
      ))}
      {environments
        .filter(({ environmentId }) => !named.has(environmentId))
        .map(({ environmentId, label }) => (
          <span key={environmentId} className="mono">
            {label}
          </span>
        ))}
    </div>
  )
}
