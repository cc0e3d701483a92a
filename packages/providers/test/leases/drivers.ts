/** Where the drivers are, for programs of a test that are no part of this workspace. */
export const driverUrls = {
  postgres: import.meta.resolve('pg'),
  mysql: import.meta.resolve('mysql2/promise'),
} as const
