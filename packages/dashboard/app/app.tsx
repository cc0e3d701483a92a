import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { Dialogs } from './dialogs.tsx'
import { cssVariables, theme } from './look/theme.ts'
import { queryClient } from './queries.ts'
import { router } from './router.ts'
import { styleNonce } from './trusted-types.ts'

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Dialogs />
      </QueryClientProvider>
    </MantineProvider>
  )
}
