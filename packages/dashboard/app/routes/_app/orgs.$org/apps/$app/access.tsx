import { createFileRoute } from '@tanstack/react-router'
import { AccessGrid } from '../../../../../envs/access-grid.tsx'
import { AppPage, useApp } from '../../../../../secrets/use-app.tsx'
import { Empty } from '../../../../../ui/empty.tsx'
import { Loaded } from '../../../../../ui/loaded.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/access')({ component: Access })

/** The application’s environments, and the people and programs that can read them. */
function Access() {
  const { query } = useApp()
  return (
    <AppPage part="Access">
      <Loaded query={query}>
        {({ environments }) =>
          environments.length === 0 ? (
            <Empty title="No environment yet">Access is given for each environment.</Empty>
          ) : (
            <AccessGrid environments={environments} />
          )
        }
      </Loaded>
    </AppPage>
  )
}
