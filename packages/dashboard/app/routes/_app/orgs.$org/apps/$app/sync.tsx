import { createFileRoute } from '@tanstack/react-router'
import { AppPage, useApp } from '../../../../../secrets/use-app.tsx'
import { BindingList } from '../../../../../sync/binding-list.tsx'
import { ForAdmins } from '../../../../../ui/for-admins.tsx'
import { Loaded } from '../../../../../ui/loaded.tsx'

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/sync')({ component: Sync })

/** Where the application’s environments are pushed. */
function Sync() {
  const { query } = useApp()
  return (
    <AppPage part="Sync">
      <ForAdmins>
        <Loaded query={query}>
          {({ environments }) => <BindingList environmentIds={environments.map(({ id }) => id)} />}
        </Loaded>
      </ForAdmins>
    </AppPage>
  )
}
