import { createFileRoute, redirect } from '@tanstack/react-router'
import { Shell } from '../frame/shell.tsx'
import { keyring } from '../keyring.ts'
import { meQuery } from '../queries.ts'
import { session } from '../session.ts'

/** The parent route of all pages for signed-in people. */
export const Route = createFileRoute('/_app')({
  beforeLoad: async ({ context, location }) => {
    if (!(await session.ready())) throw redirect({ to: '/sign-in', search: { returnTo: location.href } })
    const me = await context.queryClient.ensureQueryData(meQuery)
    if (me.user) keyring.belongTo({ id: me.user.id, publicKeyJwk: me.user.publicKeyJwk })
    return { me }
  },
  component: Shell,
})
